import { AbortReason } from '../../base/cancel-scope.ts';
import type { Session } from '../../session/session.ts';
import type { AppServices } from '../frame/app-services.ts';
import { RunStoppedError } from '../frame/errors.ts';
import { enterLedger, inFlightOn, releaseLedger } from '../frame/in-flight.ts';
import { AgentMiddleware } from '../frame/tracing/agent-middleware.ts';
import { RunTracing } from '../frame/tracing/run-tracing.ts';
import { type Beginning, begin } from './begin.ts';
import { noteUnusable } from './inbox/unused-answers.ts';
import { noteRest, wakeAfter } from './lanes/lane-work.ts';
import { keepLease } from './lease.ts';
import { releaseEnded, releaseWaiting } from './release.ts';
import type { RunResult, RunSink } from './run.ts';
import type { RunRequest } from './run-request.ts';
import { endedResult, yieldedResult } from './run-result.ts';
import { workEnded } from './steering.ts';
import { type RunTask, Turn } from './turn.ts';

/** The state of a run when its caller gets it back. */
export interface RunEnd {
  readonly result: RunResult;
  /** True when there is more to do: the run was limited to a round or a slice of time. */
  readonly more: boolean;
}

/** A run to carry out, with the session and the sink for it. */
export interface RunAssignment {
  readonly app: AppServices;
  readonly session: Session;
  readonly request: RunRequest;
  readonly sink: RunSink;
  /** Called when this process has the session, before anything is done. */
  readonly onBegin: () => void;
}

/**
 * Carries out a run on a session that this process owns: starts it, or continues the open one. A
 * run that waits for an answer releases the session. An item that was posted meanwhile is found in
 * the same transaction, and the run goes on.
 */
export async function executeRun({
  app,
  session,
  request,
  sink,
  onBegin,
}: RunAssignment): Promise<RunEnd> {
  const { ledger } = session;
  const inFlight = await enterLedger(ledger);
  const { beginning, postedBefore } = await beginRun(app, session, request);
  onBegin();
  const stopKeeping = keepLease(ledger, app.clock);
  const agents = new AgentMiddleware(app.registry, ledger);
  const tracing = RunTracing.of({ app, session, agents }, beginning);
  const execution = new Execution(
    taskOf({ app, session, sink, beginning, agents, tracing, postedBefore }),
  );
  const release = async (): Promise<void> => {
    await execution.settled();
    tracing?.close();
    stopKeeping();
    inFlight.runs--;
    // A run that was started meanwhile still needs the ledger. Everything is durable: a lease that
    // cannot be released ends by itself.
    if (inFlight.runs === 0) await execution.release().catch(() => undefined);
  };
  try {
    const end = await (tracing?.surroundsRun === true
      ? tracing.run(() => execution.run())
      : execution.run());
    if (!end.more) noteRest(ledger, request.lane);
    if (execution.hasDetached) sink.background(release());
    else await release();
    return end;
  } catch (error) {
    await execution.abandon();
    await noteUnusable(ledger, execution.runId, error).catch(() => undefined);
    await release();
    throw ledger.failure?.error ?? error;
  }
}

/** Claims the session and finds what is to be run. Releases the session when that is nothing. */
async function beginRun(
  app: AppServices,
  session: Session,
  request: RunRequest,
): Promise<{ readonly beginning: Beginning; readonly postedBefore: number }> {
  const { ledger } = session;
  let isOwn = false;
  try {
    const { inboxSeq: postedBefore } = await ledger.lease.own();
    isOwn = true;
    return { beginning: await begin(app, session, request), postedBefore };
  } catch (error) {
    const inFlight = inFlightOn(ledger);
    inFlight.runs--;
    if (isOwn && inFlight.runs === 0) await releaseLedger(ledger).catch(() => undefined);
    throw error;
  }
}

type FirstTask = Omit<RunTask, 'onReleaseAsked'>;

function taskOf({
  beginning: { open, runnable, request },
  ...rest
}: Pick<RunTask, 'app' | 'session' | 'sink' | 'agents' | 'tracing' | 'postedBefore'> & {
  readonly beginning: Beginning;
}): FirstTask {
  const runId = open?.path ?? request.runId;
  return { ...rest, open, runnable, request, runId, isInputTaken: false, isReleaseAsked: false };
}

/** One run on one session: a series of turns. */
class Execution {
  readonly #first: FirstTask;
  #turn: Turn | undefined;
  #isReleaseAsked = false;

  constructor(first: FirstTask) {
    this.#first = first;
  }

  async run(): Promise<RunEnd> {
    const { runId, session } = this.#first;
    for (;;) {
      const turn = this.#startTurn();
      const end = await turn.work();
      if (end.kind === 'outcome')
        return { result: endedResult(session, runId, end.record), more: false };
      if (end.kind === 'unchanged') {
        this.#leaveUnchanged();
        return { result: yieldedResult(session, runId), more: false };
      }
      const { error, wait } = turn.run.release;
      if (wait === undefined) throw error ?? new RunStoppedError({ session: session.id, runId });
      if (turn.phase === 'released') return { result: yieldedResult(session, runId), more: true };
      if (await releaseWaiting(turn, wait))
        return { result: yieldedResult(session, runId), more: false };
      await turn.end();
    }
  }

  /** Sets the next wake of a session that is left as it is. */
  #leaveUnchanged(): void {
    const { app, request, session } = this.#first;
    const { ledger } = session;
    if (inFlightOn(ledger).runs > 1) return;
    ledger.append([], { wakeAt: wakeAfter(ledger, app.telling, request.lane) });
  }

  #startTurn(): Turn {
    const first = this.#first;
    const isFirst = this.#turn === undefined;
    const { byPath } = first.session.ledger.invocations;
    this.#turn = new Turn({
      ...first,
      open: isFirst ? first.open : byPath.get(first.runId),
      isInputTaken: !isFirst,
      isReleaseAsked: this.#isReleaseAsked,
      onReleaseAsked: () => {
        this.#isReleaseAsked = true;
      },
    });
    return this.#turn;
  }

  get runId(): string {
    return this.#first.runId;
  }

  get hasDetached(): boolean {
    return this.#turn?.run.detached.isUnderWay ?? false;
  }

  /** Resolves when no detached work is under way and the last turn has ended. */
  async settled(): Promise<void> {
    await this.#turn?.run.detached.settled();
    await this.#turn?.end();
    // Work that another run released may have been taken over just before.
    await this.#turn?.run.detached.settled();
  }

  /** Stops all work: nothing may write after the ledger was released. */
  async abandon(): Promise<void> {
    const run = this.#turn?.run;
    if (run === undefined) return;
    run.abort(new AbortReason('stopped', 'The run could not be carried on.'));
    await workEnded(run);
  }

  async release(): Promise<void> {
    const { app, request, runId, session } = this.#first;
    const { ledger } = session;
    await releaseEnded(ledger, { runId, lane: request.lane, app }, this.#turn);
    // Items that came last for lanes without a run here.
    for (const lane of inFlightOn(ledger).addressed) app.resumeRun(ledger.session, lane);
  }
}
