import { systemClock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import { contentHash } from '../../base/hash.ts';
import { type SessionBusyError, SessionNotFoundError } from '../../ledger/errors.ts';
import type { StreamEvent } from '../../ledger/event.ts';
import { hasOutcome, lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { postCancel, postGrant } from '../../session/answer.ts';
import type { Session } from '../../session/session.ts';
import { RunStoppedError } from '../frame/errors.ts';
import type { AppServices } from '../frame/run-context.ts';
import { assertMayBegin, assertSameRunnable, dataOf } from '../invoke/input-contract.ts';
import { executeRun, type RunEnd, type RunRequest } from './execute-run.ts';
import { openRoot, rootAskedBefore } from './root-run.ts';
import { Run, type RunResult, type RunSink } from './run.ts';
import { endedResult, yieldedResult } from './run-result.ts';

/** How often a session that another process holds is asked for. */
const retryMs = 250;

/** Opens the session of a run; called again when what was opened has become out of date. */
export type OpenSession = (fresh: boolean) => Promise<Session>;

/** Starts runs, one at a time for each session: what comes while one is under way is told to it. */
export class RunStarter {
  readonly #app: AppServices;
  readonly #active = new Map<string, Run>();
  /** Runs of which something is under way, be it only what they dispatched. */
  readonly #unsettled = new Set<Run>();
  /** Called with the end of every run that was carried out here. */
  readonly #onEnd: (end: RunEnd) => void;

  constructor(app: AppServices, onEnd: (end: RunEnd) => void) {
    this.#app = app;
    this.#onEnd = onEnd;
  }

  isActive(session: string): boolean {
    return this.#active.has(session);
  }

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#unsettled.size === 0;
  }

  /** The run that this process carries out on a session. */
  active(session: string): Run | undefined {
    return this.#active.get(session);
  }

  /** @param onEnd told how far the run has come, which its result does not say */
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
    sink: RunSink,
  ): Promise<RunEnd> {
    let asked = request;
    if (request.runnable !== undefined && request.data !== undefined)
      asked = { ...request, data: await dataOf(request.runnable, request.data) };
    let session = await open(false);
    let isPosted = false;
    for (;;) {
      const active = this.#active.get(session.id);
      if (active === undefined) {
        try {
          return await this.#execute(run, session, asked, sink);
        } catch (error) {
          if (isOutOfDate(error, session)) {
            session = await open(true);
            continue;
          }
          // Who looks after many sessions has others to look after.
          if (!isHeldElsewhere(error, session) || asked.isWorker === true) throw error;
          // What the holder has written since it was read.
          if (!isPosted) session = await open(true);
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
      session = await open(true);
    }
  }

  async #execute(run: Run, session: Session, request: RunRequest, sink: RunSink): Promise<RunEnd> {
    this.#active.set(session.id, run);
    let heedNoMore = (): void => undefined;
    const forget = this.#app.middleware.flatMap(({ onStream }) =>
      onStream === undefined ? [] : [run.listen(quietly(onStream))],
    );
    try {
      // Not before: who holds the session is the one that streams, and this run may have to try
      // again.
      const end = await executeRun(this.#app, session, request, sink, () => {
        heedNoMore = this.#app.heed(run, session.ledger);
      });
      this.#onEnd(end);
      // What it has dispatched goes on being streamed.
      void run.settled().then(heedNoMore);
      return end;
    } catch (error) {
      heedNoMore();
      throw error;
    } finally {
      for (const one of forget) one();
      this.#active.delete(session.id);
    }
  }

  /** Leaves the input for whoever holds the session. */
  async #post(
    session: Session,
    request: RunRequest,
    sink: RunSink,
    isHere: boolean,
  ): Promise<RunRequest> {
    const { ledger } = session;
    const { input, data, runId, runnable } = request;
    const open = openRoot(session);
    if (open !== undefined && runnable !== undefined) assertSameRunnable(session, open, runnable);
    if (open !== undefined) assertMayBegin(open, request);
    if (request.permissions !== undefined && request.permissions.length > 0)
      await postGrant(ledger, 'grant', { permissions: request.permissions, by: 'user', runId });
    if (
      (input === undefined && data === undefined) ||
      runnable === undefined ||
      rootAskedBefore(session, request) !== undefined
    )
      return request;
    await ledger.ports.store.post(session.id, {
      // Another input under one name is another message.
      key: `run:${runId}:${contentHash({ input, data })}`,
      lane: 'input',
      by: 'user',
      at: this.#app.clock.now(),
      type: 'user',
      data: {
        ...(input === undefined ? {} : { text: input }),
        ...(data === undefined ? {} : { data }),
        runId,
        runnable: runnable.name,
      },
    });
    const accepted = { session: session.id, runId: open?.path ?? runId };
    sink.accept(() => accepted);
    if (isHere) this.#active.get(session.id)?.poke();
    return { ...request, posted: runId };
  }

  /** Goes with a run of this process. `undefined`: it ended without having taken the input. */
  async #join(active: Run, { posted }: RunRequest, sink: RunSink): Promise<RunEnd | undefined> {
    const forget = active.listen((event) => sink.push(event));
    if (posted === undefined) sink.accept(() => active.accepted());
    try {
      const result = await active;
      const landed = posted === undefined || landedIn(result.session, posted) === result.runId;
      return landed ? { result, more: false } : undefined;
    } finally {
      forget();
    }
  }

  /** Gives all runs and what they dispatched back without ending them, and waits for that. */
  async stop(): Promise<void> {
    const runs = [...this.#unsettled];
    for (const run of runs) run.stop();
    await Promise.all(runs.map((run) => run.settled()));
  }
}

/** Who only looks on does not disturb a run. */
function quietly(listener: (event: StreamEvent) => void): (event: StreamEvent) => void {
  return (event) => {
    try {
      listener(event);
    } catch {
      // Middleware that fails to log is no failure of what it logs.
    }
  };
}

/**
 * Whether others have written since the session was read, so that it could not even be claimed;
 * what it has not stored yet would be lost.
 */
function isOutOfDate(error: unknown, { ledger }: Session): boolean {
  const isUnchanged =
    ledger.failure === undefined &&
    ledger.claim === undefined &&
    ledger.lastSeq === ledger.durableSeq;
  return isUnchanged && isAdjutantError(error, 'ledger_conflict');
}

/** Whether another process has the session: then it is followed instead. */
function isHeldElsewhere(error: unknown, { id }: Session): error is SessionBusyError {
  return (
    isAdjutantError(error, 'session_busy') &&
    error.data['session'] === id &&
    error.data['until'] !== undefined
  );
}

/** The root of the run that an input went to. */
function landedIn({ ledger }: Session, posted: string): string | undefined {
  const event = ledger.events.findLast(
    (candidate) => candidate.type === 'user' && candidate.clientKey === posted,
  );
  return event?.invocationId?.split('/')[0] ?? ledger.invocations.byPath.get(posted)?.path;
}

/**
 * What a run gives that was asked for before under its name and has ended: nobody needs to hold the
 * session for that.
 */
async function resultAskedBefore(
  session: Session,
  request: RunRequest,
  sink: RunSink,
): Promise<RunResult | undefined> {
  const { ledger } = session;
  const root = rootAskedBefore(session, request);
  if (root === undefined) return undefined;
  if (request.runnable !== undefined) assertSameRunnable(session, root, request.runnable);
  const record = hasOutcome(ledger.invocations, root.path)
    ? lastRecord(ledger.invocations, root.path)
    : undefined;
  if (record === undefined) return undefined;
  await ledger.durable();
  sink.accept(() => ({ session: session.id, runId: root.path }));
  return endedResult(session, root.path, record);
}

/**
 * Hands on the events of the process that holds the session, until its run has ended or waits, or
 * until the session can be had. `undefined`: it may be had now.
 */
async function followHolder(
  session: Session,
  open: OpenSession,
  request: RunRequest,
  sink: RunSink,
): Promise<RunEnd | undefined> {
  const { posted, signal, runId, runnable } = request;
  const { ledger, id } = session;
  const { store } = ledger.ports;
  const over = new AbortController();
  let isStopped = false;
  const cancel = (reason?: string): void =>
    void postCancel(ledger, { by: 'user', reason }).catch(() => undefined);
  const onSignal = (): void => cancel();
  const stop = (): void => {
    isStopped = true;
    over.abort();
  };
  sink.attach({ cancel, stop, poke: () => undefined });
  if (signal?.aborted) onSignal();
  else signal?.addEventListener('abort', onSignal, { once: true });
  // Without an input of its own it goes with the run that is open.
  let root = posted === undefined ? openRoot(session)?.path : landedIn(session, posted);
  let told = ledger.durableSeq;
  const tellAccepted = (): void => {
    const runId = root;
    if (runId !== undefined) sink.accept(() => ({ session: id, runId }));
  };
  tellAccepted();
  const following = (async (): Promise<boolean> => {
    for await (const event of store.follow(id, ledger.durableSeq, over.signal)) {
      told = event.seq;
      sink.push(event);
      if (event.type === 'invocation_start' && event.mode === 'root' && root === undefined) {
        if (runnable !== undefined)
          assertSameRunnable(
            session,
            { path: event.invocationId, kind: event.kind, name: event.name },
            runnable,
          );
        if (posted === undefined || posted === event.invocationId) root = event.invocationId;
        tellAccepted();
      }
      if (event.type === 'user' && posted !== undefined && event.clientKey === posted)
        root = event.invocationId?.split('/')[0];
      const isRest =
        (event.type === 'invocation_end' && event.next === undefined) ||
        event.type === 'invocation_yield';
      if (isRest && root !== undefined && event.invocationId?.split('>')[0] === root) return true;
    }
    return false;
  })();
  following.catch(() => undefined);
  try {
    const rests = await Promise.race([
      following,
      untilFree(session, over.signal).then(() => false),
    ]);
    if (isStopped) throw new RunStoppedError({ session: id, runId: root ?? runId });
    const fresh = await open(true);
    // A session can be free before it is told that the run has ended.
    if (posted !== undefined) root ??= landedIn(fresh, posted);
    if (root === undefined) return undefined;
    const record = lastRecord(fresh.ledger.invocations, root);
    if (record?.end === undefined || record.next !== undefined)
      return rests ? { result: yieldedResult(fresh, root), more: false } : undefined;
    over.abort();
    await following.catch(() => false);
    for (const event of fresh.events.slice(told)) sink.push(event);
    return { result: endedResult(fresh, root, record), more: false };
  } finally {
    over.abort();
    signal?.removeEventListener('abort', onSignal);
  }
}

/** Resolves when nobody holds the session any more. */
async function untilFree({ id, app, ledger }: Session, signal: AbortSignal): Promise<void> {
  const { store, owner, leaseMs } = ledger.ports;
  while (!signal.aborted) {
    const { promise: isTime, resolve } = Promise.withResolvers<void>();
    const cancel = systemClock.setTimer(retryMs, resolve);
    const onAbort = (): void => resolve(cancel());
    signal.addEventListener('abort', onAbort, { once: true });
    await isTime;
    signal.removeEventListener('abort', onAbort);
    if (signal.aborted) return;
    try {
      // A claim would make a session that has been deleted anew.
      if ((await store.head(id)) === undefined)
        throw new SessionNotFoundError({ session: id, app });
      await store.release(await store.claim(id, `${owner}/asking`, { ttl: leaseMs }));
      return;
    } catch (error) {
      if (!isAdjutantError(error, 'session_busy')) throw error;
    }
  }
}
