import { afterThisTurn, systemClock } from '../../base/clock.ts';
import { type TestClock, testClock } from '../../base/clocks/test-clock.ts';
import { defined } from '../../base/defined.ts';
import { type ErrorRecord, toErrorRecord } from '../../base/error.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import { eventVersions } from '../../ledger/event.ts';
import { laneMember } from '../../ledger/folds/lanes.ts';
import { recordedScopes } from '../../ledger/shared-scopes.ts';
import type { Runtime } from '../../runtime.ts';
import { isApproval } from '../../session/pending-request.ts';
import type { Session } from '../../session/session.ts';
import { endReplay } from '../end-replay.ts';
import { type RecordedLedger, resolverOf } from '../recorded-ledger.ts';
import { replayingRuntime } from '../replaying-runtime.ts';
import { ResumeRecording } from './resume-recording.ts';
import type { SessionCheck } from './session-check.ts';

const secondMs = 1_000;
/** Turns of the event loop in which code does what a second has made due. */
const turnsPerSecond = 4;
/** Milliseconds after which every call that is not recorded has been judged. */
const longestJudgingMs = 61_000;

export type Outcome = Pick<SessionCheck, 'verdict' | 'code' | 'reason'>;

interface Limits {
  readonly lane: string;
  readonly patienceMs: number;
  readonly signal: AbortSignal | undefined;
}

const goesOn: Outcome = { verdict: 'goes_on' };

/**
 * Continues a copy of a record with today's code, in memory, up to the first thing that it would do
 * anew. Approvals that are waited for count as given, so that their calls are tried too.
 */
export async function dryResume(
  record: RecordedLedger,
  app: Runtime,
  limits: Limits,
): Promise<Outcome> {
  const clock = testClock((record.events.at(-1)?.at ?? 0) + 1);
  const recording = new ResumeRecording(record.session, {
    events: record.events,
    model: 'recorded',
    tools: 'recorded',
    resolve: resolverOf(record.blobs),
    normalize: (value) => value,
    made: new Set(),
  });
  const copy = await replayingRuntime(app, { ...record, clock, recording });
  const scopes = recordedScopes(record.events);
  const session = await copy.sessions.open({
    id: record.session,
    observe: false,
    ...defined({ scopes: Object.keys(scopes).length === 0 ? undefined : scopes }),
  });
  session.ledger.blobs.keepAll(record.blobs);
  if (scopes['user'] !== undefined) session.ledger.user = scopes['user'];
  recording.attach(session.ledger);
  approve(session);
  try {
    return await outcomeOf({ app: copy, session, recording, clock }, limits);
  } finally {
    await endReplay({ app: copy, session, recording });
  }
}

/** Puts an approval of each call that waits for one into the copy. */
function approve({ ledger }: Session): void {
  for (const { requestId, callId, invocationId, kind } of [...ledger.requests.values()]) {
    if (!isApproval({ kind })) continue;
    const seq = ledger.lastSeq + 1;
    const { at } = ledger.events.at(-1) as Event;
    const given: EventOf<'tool_input'> = {
      ...{ v: eventVersions.tool_input, seq, id: `check.${seq}`, at, type: 'tool_input' },
      ...{ by: 'operator:check', callId, requestId, decision: 'approve', answeredAt: at },
      ...defined({ invocationId }),
    };
    ledger.adopt([given]);
  }
}

interface Trial {
  readonly app: Runtime;
  readonly session: Session;
  readonly recording: ResumeRecording;
  readonly clock: TestClock;
}

async function outcomeOf(
  { app, session, recording, clock }: Trial,
  { lane, patienceMs, signal }: Limits,
): Promise<Outcome> {
  const resumed = app.resume(session, laneMember(lane)).then(
    (): Outcome => goesOn,
    (error: unknown): Outcome => refusedBy(toErrorRecord(error)),
  );
  const late = after(patienceMs);
  const slow = late.promise.then(() => passTime(clock)).then(() => notKnown(patienceMs));
  const aborted = Promise.withResolvers<Outcome>();
  const abort = (): void => aborted.reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const wentOn = recording.wentOn.then(() => goesOn);
    const outcome = await Promise.race([wentOn, resumed, slow, aborted.promise]);
    const { failed } = recording;
    return failed?.error === undefined ? outcome : refusedBy(failed.error);
  } finally {
    late.cancel();
    signal?.removeEventListener('abort', abort);
  }
}

function refusedBy({ code, message }: ErrorRecord): Outcome {
  return { verdict: 'refused', code, reason: message };
}

function notKnown(patienceMs: number): Outcome {
  const reason = `its code did nothing that is recorded within ${patienceMs} ms`;
  return { verdict: 'unknown', reason };
}

/** Lets the time pass after which a call that the record does not have is judged. */
async function passTime(clock: TestClock): Promise<void> {
  for (let passed = 0; passed < longestJudgingMs; passed += secondMs) {
    clock.advance(secondMs);
    for (let turn = 0; turn < turnsPerSecond; turn++)
      await new Promise<void>((resolve) => afterThisTurn(resolve));
  }
}

function after(ms: number): { readonly promise: Promise<void>; readonly cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, cancel: systemClock.setTimer(ms, resolve) };
}
