import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { type ErrorRecord, isAdjutantError, toErrorRecord } from '../../base/error.ts';
import type { ConversationResult } from '../../conversation/conversation-options.ts';
import { converse } from '../../conversation/converse.ts';
import type { Run } from '../../engine/run/run.ts';
import { decision, isDecision } from '../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Session } from '../../session/session.ts';
import type { EvalOptions, TrialPlace, TrialSubject } from '../eval-options.ts';
import type { TrialRecord } from '../scorers/scorer.ts';
import { activeMs, type TrialEnding, trialRecord } from './trial-record.ts';
import { leavingUser, userOf } from './trial-user.ts';

/** The parts that a trial needs to run. */
export interface TrialWork {
  readonly evalName: string;
  readonly place: TrialPlace;
  readonly subject: TrialSubject;
  readonly options: Pick<EvalOptions, 'limits' | 'userModel' | 'scopes'>;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Stops the trial and releases its run as it is. */
  readonly stop: AbortSignal;
}

export interface TrialOutcome {
  readonly record: TrialRecord;
  /** Nothing was run: all of it was in the ledger. */
  readonly recorded: boolean;
}

const conversation = 'trial';

/**
 * Runs a trial in its session, or what of it has not been run yet. What has ended is read from the
 * ledger.
 * @throws EvalStoppedError, RunStoppedError when it was stopped; everything else that keeps a run
 * from being carried out
 */
export async function runTrial(work: TrialWork): Promise<TrialOutcome> {
  const { place, subject, stop } = work;
  const session = await openSession(work);
  stop.throwIfAborted();
  const found = endingOf(session, place);
  const ending = found ?? (await carryOut(work, session));
  const ended =
    found === undefined ? await subject.app.sessions.open({ id: place.session }) : session;
  const { variant, trial } = place;
  return {
    record: trialRecord(ended as Session, { ...ending, case: place.case, variant, trial }),
    recorded: found !== undefined,
  };
}

/** Number of times that a session of another process is opened again. */
const mostOpenings = 20;
const busyMs = 100;

/**
 * The session of the trial with what it begins with. Of several processes that run the same eval
 * one makes it.
 */
async function openSession(work: TrialWork): Promise<Session> {
  for (let opening = 1; ; opening++) {
    const session = await sessionOf(work);
    if (session.events.length > 0) return session;
    try {
      session.append(beginning(work));
      await session.flush();
      return session;
    } catch (error) {
      if (!isTaken(error) || opening === mostOpenings) throw error;
      await new Promise<void>((resolve) => work.clock.setTimer(busyMs, resolve));
      work.stop.throwIfAborted();
    }
  }
}

async function sessionOf({ place, subject, options }: TrialWork): Promise<Session> {
  const { userId } = place.case;
  const scopes = options.scopes?.(place) ?? defined({ user: userId });
  return (await subject.app.sessions.open({
    id: place.session,
    ...(Object.keys(scopes).length === 0 ? {} : { scopes }),
  })) as Session;
}

function beginning({ evalName, place }: TrialWork): readonly EventDraft[] {
  const { runId, variant, trial } = place;
  const { id, state = {} } = place.case;
  const changes = Object.entries(state).flatMap(([key, newValue]) =>
    newValue === undefined ? [] : [{ key, newValue }],
  );
  const reasoning =
    `Trial ${trial} of the case "${id}" with "${variant}" in the eval ` + `"${evalName}".`;
  const data = { eval: evalName, runId, variant, case: id, trial };
  return [
    decision('eval', 'trial', { reasoning, data }),
    ...(changes.length === 0
      ? []
      : [
          {
            type: 'state_change' as const,
            by: 'user' as const,
            scope: 'session',
            source: 'mutation' as const,
            changes,
          },
        ]),
  ];
}

/**
 * Returns the end of a trial, if its ledger says so; `undefined`: there is something to be done, or
 * it takes a look at what it waits for.
 */
function endingOf(
  session: Session,
  { case: { turns, scenario } }: TrialPlace,
): TrialEnding | undefined {
  const { ledger } = session;
  const roots = ledger.invocations.roots.flatMap((path) => {
    const record = lastRecord(ledger.invocations, path);
    return record?.mode === 'root' || record?.mode === 'transfer' ? [record] : [];
  });
  const last = roots.at(-1);
  if (last === undefined || roots.some(({ end }) => end === undefined)) return undefined;
  if (last.status === 'error' || last.status === 'cancelled')
    return failedEnding(session, last.status, last.error);
  if (scenario !== undefined)
    return session.events.some(isScenarioEnd) ? { status: 'completed' } : undefined;
  const messages = session.events.filter(({ type }) => type === 'user').length;
  return messages >= turns.length && last.status === 'completed'
    ? { status: 'completed' }
    : undefined;
}

/** True for the end that the user of a scenario declares; the runs do not show it. */
function isScenarioEnd(event: Event): boolean {
  return isDecision(event, 'eval', 'scenario_end');
}

/**
 * Spares whoever continues the eval to ask the user's session. Another process that runs the same
 * eval may have the session now, and write it too.
 */
async function recordScenarioEnd({ session, reason }: ConversationResult): Promise<void> {
  const reasoning = reason ?? 'The user has nothing more to say.';
  try {
    await session.ledger.lease.own();
    session.append([decision('eval', 'scenario_end', { by: 'user', reasoning })]);
    await session.flush();
    await session.ledger.release();
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
}

function isTaken(error: unknown): boolean {
  return isAdjutantError(error, 'session_busy') || isAdjutantError(error, 'ledger_conflict');
}

const tooLong = 'The trial took longer than';

function failedEnding(
  { events }: Pick<Session, 'events'>,
  status: 'error' | 'cancelled',
  error: ErrorRecord | undefined,
): TrialEnding {
  const isLate =
    error?.code === 'timeout' ||
    events.some((event) => event.type === 'cancel' && event.reason?.startsWith(tooLong) === true);
  return { status: isLate ? 'timed_out' : status, ...defined({ error }) };
}

/** Lets the user and the agent talk, within the time that a trial has. */
async function carryOut(work: TrialWork, session: Session): Promise<TrialEnding> {
  const { subject, place, options, timeoutMs, clock, stop } = work;
  const late = new AbortController();
  const cancelTimer = clock.setTimer(Math.max(0, timeoutMs - activeMs(session.events)), () =>
    late.abort(new Error(`${tooLong} its ${timeoutMs} ms.`)),
  );
  let underWay: Run | undefined;
  const stopRun = (): void => underWay?.stop();
  stop.addEventListener('abort', stopRun, { once: true });
  try {
    const { data, turns, scenario } = place.case;
    const result = await converse(subject.app, subject.runnable, {
      session,
      conversation,
      user: leavingUser(userOf(place.case, options.userModel), stop, clock),
      maxTurns: scenario?.maxTurns ?? turns.length,
      followUps: scenario !== undefined || turns.length > 1,
      signal: late.signal,
      timeoutMs,
      onRun: (run) => {
        underWay = run;
        if (stop.aborted) run.stop();
      },
      ...defined({ data, limits: options.limits }),
    });
    const ending = endingOfConversation(result, late.signal);
    if (scenario !== undefined && ending.status === 'completed') await recordScenarioEnd(result);
    return ending;
  } catch (error) {
    if (stop.aborted || isAdjutantError(error, 'run_stopped')) throw error;
    return { status: 'error', error: toErrorRecord(error) };
  } finally {
    stop.removeEventListener('abort', stopRun);
    cancelTimer();
  }
}

function endingOfConversation(
  { ended, reason, result, session }: ConversationResult,
  late: AbortSignal,
): TrialEnding {
  switch (ended) {
    case 'completed':
    case 'user_done':
    case 'max_turns':
      return result?.status === 'yielded' && !result.awaitingInput
        ? waiting(reason)
        : { status: 'completed' };
    case 'stuck':
      return waiting(reason);
    case 'error':
      return failedEnding(session, 'error', result?.error);
    case 'cancelled':
      if (late.aborted)
        return { status: 'timed_out', error: toErrorRecord(late.reason, 'timeout') };
      return failedEnding(session, 'cancelled', result?.error);
  }
}

function waiting(reason: string | undefined): TrialEnding {
  const message =
    `${(reason ?? 'The run waits for somebody').replace(/\.$/, '')}. Say in \`approvals\` of ` +
    'the case how it is to be answered.';
  return {
    status: 'waiting',
    error: { name: 'TrialWaitingError', code: 'trial_waiting', message },
  };
}
