import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import { contentHash } from '../../base/hash.ts';
import type { SessionBusyError } from '../../ledger/errors.ts';
import type { StreamEvent } from '../../ledger/event.ts';
import { hasOutcome, lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { laneMember } from '../../ledger/folds/lanes.ts';
import { postGrant } from '../../session/answer.ts';
import type { Session } from '../../session/session.ts';
import type { AppServices } from '../frame/app-services.ts';
import { runningBody } from '../frame/running-body.ts';
import { assertMayBegin, inputDataOf } from '../invoke/input-contract.ts';
import { executeRun, type RunEnd } from './execute-run.ts';
import { followHolder, type OpenSession } from './follow-holder.ts';
import { ActiveRuns } from './lanes/active-runs.ts';
import { chooseLane } from './lanes/choose-lane.ts';
import { openRoot, rootAskedBefore, rootOfPosted } from './root-run.ts';
import { Run, type RunResult, type RunSink } from './run.ts';
import { assertRequested, type RunRequest } from './run-request.ts';
import { endedResult } from './run-result.ts';
import { askedAfterTakeOver, HeardEvents, isTakenOver } from './taken-over.ts';

/**
 * Starts runs, one at a time for each lane of a session. A running run gets the input of later
 * calls.
 */
export class RunStarter {
  readonly #app: AppServices;
  readonly #active = new ActiveRuns();
  /** Runs with work under way, detached work included. */
  readonly #unsettled = new Set<Run>();
  /** Called with the end of each run that was carried out here. */
  readonly #onEnd: (end: RunEnd) => void;

  constructor(app: AppServices, onEnd: (end: RunEnd) => void) {
    this.#app = app;
    this.#onEnd = onEnd;
  }

  /** Checks that this process carries out a run on a session, in a lane or in any. */
  isActive(session: string, lane?: string): boolean {
    return lane === undefined
      ? this.#active.of(session).length > 0
      : this.#active.get(session, lane) !== undefined;
  }

  /** True when no run has work under way. */
  get isIdle(): boolean {
    return this.#unsettled.size === 0;
  }

  /** The runs that this process carries out on a session, one for each lane. */
  active(session: string): readonly Run[] {
    return this.#active.of(session);
  }

  /**
   * Starts a run.
   * @param onEnd called with the end of the run; its result does not tell if there is more to do
   */
  start(
    open: OpenSession,
    request: RunRequest,
    onStream?: (event: StreamEvent) => void,
    onEnd?: (end: RunEnd) => void,
  ): Run {
    const run: Run = new Run(async (sink) => {
      const end = await this.#carryOut(run, open, request, sink);
      onEnd?.(end);
      return end.result;
    }, onStream);
    this.#unsettled.add(run);
    void run.settled().then(() => this.#unsettled.delete(run));
    return run;
  }

  async #carryOut(
    run: Run,
    open: OpenSession,
    request: RunRequest,
    given: RunSink,
  ): Promise<RunEnd> {
    let asked = request;
    if (request.runnable !== undefined && request.data !== undefined)
      asked = { ...request, data: await inputDataOf(request.runnable, request.data) };
    let session = await open(false);
    if (asked.isOfAnyLane === true) {
      const lane = await chooseLane(session, this.#app);
      asked = { ...asked, lane, isOfAnyLane: false };
    }
    let isPosted = false;
    const sink = new HeardEvents(given, asked.lane);
    const reopen = async (): Promise<void> => {
      session = await open(true);
      sink.passOn(session);
    };
    for (;;) {
      const active = this.#active.get(session.id, asked.lane);
      if (active === undefined) {
        try {
          return await this.#execute(run, session, asked, sink);
        } catch (error) {
          if (isOutOfDate(error, session)) {
            await reopen();
            continue;
          }
          if (isTakenOver(error, session) && asked.isWorker !== true) {
            const lost = session;
            sink.begin(lost);
            await reopen();
            asked = askedAfterTakeOver(error, { lost, fresh: session, request: asked, sink });
            isPosted = false;
            const ended = await resultAskedBefore(session, asked, sink);
            if (ended !== undefined) return { result: ended, more: false };
            continue;
          }
          // A worker has other sessions to care for.
          if (!isHeldElsewhere(error, session) || asked.isWorker === true) throw error;
          // The holder may have written since the session was read.
          if (!isPosted) await reopen();
        }
      }
      if (!isPosted) {
        const ended = await resultAskedBefore(session, asked, sink);
        if (ended !== undefined) return { result: ended, more: false };
        asked = await this.#post(session, asked, sink, active !== undefined);
        isPosted = true;
      }
      const end =
        active === undefined
          ? await followHolder(session, open, asked, sink)
          : await this.#join(active, asked, sink);
      if (end !== undefined) return end;
      await reopen();
    }
  }

  async #execute(run: Run, session: Session, request: RunRequest, sink: RunSink): Promise<RunEnd> {
    this.#active.add(session.id, request.lane, run);
    let stopKeeping = (): void => undefined;
    const forget = this.#app.middleware.flatMap(({ onStream }) =>
      onStream === undefined ? [] : [run.listen(quietly(onStream))],
    );
    try {
      // Not before the claim: another process may hold the session and stream its events.
      const onBegin = (): void => {
        stopKeeping = this.#app.publishStream(run, session.ledger);
      };
      const end = await executeRun({ app: this.#app, session, request, sink, onBegin });
      this.#onEnd(end);
      // Its detached work is still streamed.
      void run.settled().then(stopKeeping);
      return end;
    } catch (error) {
      stopKeeping();
      throw error;
    } finally {
      for (const one of forget) one();
      this.#active.delete(session.id, request.lane);
      // They resume this lane when something has come for it meanwhile.
      for (const other of this.#active.of(session.id)) other.poke();
    }
  }

  /** Posts the input of a run to the holder of the session. */
  async #post(
    session: Session,
    request: RunRequest,
    sink: RunSink,
    isHere: boolean,
  ): Promise<RunRequest> {
    const { ledger } = session;
    const { input, data, lane, model, runId, runnable } = request;
    const open = openRoot(session, lane);
    if (open !== undefined) assertRequested(session, open, request);
    if (open !== undefined) assertMayBegin(open, request);
    if (request.permissions !== undefined && request.permissions.length > 0)
      await postGrant(ledger, 'grant', {
        permissions: request.permissions,
        by: 'user',
        runId,
        lane,
      });
    if (
      (input === undefined && data === undefined) ||
      runnable === undefined ||
      rootAskedBefore(session, request) !== undefined
    )
      return request;
    await ledger.ports.store.post(session.id, {
      // A different input under the same name is another message.
      key: `run:${runId}:${contentHash({ input, data })}`,
      lane: 'input',
      by: 'user',
      at: this.#app.clock.now(),
      type: 'user',
      data: {
        ...defined({ text: input, data, model }),
        runId,
        runnable: runnable.name,
        ...laneMember(lane),
      },
    });
    const accepted = { session: session.id, runId: open?.path ?? runId };
    sink.accept(() => accepted);
    if (isHere) this.#active.get(session.id, lane)?.poke();
    return { ...request, posted: runId };
  }

  /** Follows a run of this process; `undefined` when it ended without having taken the input. */
  async #join(active: Run, { posted }: RunRequest, sink: RunSink): Promise<RunEnd | undefined> {
    const forget = active.listen((event) => sink.push(event));
    if (posted === undefined) sink.accept(() => active.accepted());
    try {
      const result = await active;
      const landed = posted === undefined || rootOfPosted(result.session, posted) === result.runId;
      return landed ? { result, more: false } : undefined;
    } finally {
      forget();
    }
  }

  /** Releases all runs and their detached work without ending them, and waits for that. */
  async stop(): Promise<void> {
    const runs = [...this.#unsettled];
    for (const run of runs) run.stop();
    await Promise.all(runs.map((run) => run.settled()));
  }
}

/** Wraps a listener so that its errors do not disturb the run. */
function quietly(listener: (event: StreamEvent) => void): (event: StreamEvent) => void {
  return (event) => {
    try {
      runningBody.exit(() => listener(event));
    } catch {
      // A listener that fails does not make the run fail.
    }
  };
}

/**
 * Checks that others have written since the session was read, so that its claim failed. False when
 * the session holds events that are not stored: these would be lost by reading it again.
 */
function isOutOfDate(error: unknown, { ledger }: Session): boolean {
  const isUnchanged =
    ledger.failure === undefined &&
    ledger.lease.claim === undefined &&
    ledger.lastSeq === ledger.durableSeq;
  return isUnchanged && isAdjutantError(error, 'ledger_conflict');
}

/** Checks that another process has the session; the run is then followed. */
function isHeldElsewhere(error: unknown, { id }: Session): error is SessionBusyError {
  return (
    isAdjutantError(error, 'session_busy') &&
    error.data['session'] === id &&
    error.data['until'] !== undefined
  );
}

/**
 * The result of an ended run that was asked for before under the same name. It needs no claim of
 * the session.
 */
async function resultAskedBefore(
  session: Session,
  request: RunRequest,
  sink: RunSink,
): Promise<RunResult | undefined> {
  const { ledger } = session;
  const root = rootAskedBefore(session, request);
  if (root === undefined) return undefined;
  assertRequested(session, root, request);
  const record = hasOutcome(ledger.invocations, root.path)
    ? lastRecord(ledger.invocations, root.path)
    : undefined;
  if (record === undefined) return undefined;
  await ledger.durable();
  sink.accept(() => ({ session: session.id, runId: root.path }));
  return endedResult(session, root.path, record);
}
