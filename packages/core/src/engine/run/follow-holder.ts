import { isAdjutantError } from '../../base/error.ts';
import { SessionNotFoundError } from '../../ledger/errors.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { defaultLane, isOfOtherLane } from '../../ledger/folds/lanes.ts';
import { hasTaken } from '../../ledger/folds/taken-message.ts';
import { isRootOf, rootOf } from '../../ledger/path.ts';
import { postCancel } from '../../session/answer.ts';
import type { Session } from '../../session/session.ts';
import { RunStoppedError } from '../frame/errors.ts';
import type { RunEnd } from './execute-run.ts';
import { openRoot, rootAskedBefore, rootOfPosted } from './root-run.ts';
import type { RunSink } from './run.ts';
import { assertRequested, type RunRequest } from './run-request.ts';
import { endedResult, yieldedResult } from './run-result.ts';

/** Milliseconds between two tries to claim a session that another process holds. */
const retryMs = 250;

/** Opens the session of a run; called with `true` when the opened session is out of date. */
export type OpenSession = (fresh: boolean) => Promise<Session>;

/**
 * Passes on the events of the process that holds the session, until its run has ended or waits.
 * Returns `undefined` when the session may be free to claim now.
 */
export async function followHolder(
  session: Session,
  open: OpenSession,
  request: RunRequest,
  sink: RunSink,
): Promise<RunEnd | undefined> {
  const { posted, runId } = request;
  const { id } = session;
  const followed = new FollowedRun(session, request, sink);
  const following = followed.follow();
  following.catch(() => undefined);
  try {
    const hasRested = await Promise.race([
      following,
      untilFree(session, followed.signal).then(() => false),
    ]);
    if (followed.isStopped)
      throw new RunStoppedError({ session: id, runId: followed.root ?? runId });
    const fresh = await open(true);
    // A session can be free before the end of its run has arrived here.
    if (posted !== undefined) followed.root ??= rootOfPosted(fresh, posted);
    const { root } = followed;
    if (root === undefined) return undefined;
    const record = lastRecord(fresh.ledger.invocations, root);
    if (record?.end === undefined || record.next !== undefined)
      return hasRested ? { result: yieldedResult(fresh, root), more: false } : undefined;
    followed.end();
    await following.catch(() => false);
    for (const event of fresh.events.slice(followed.lastSeq)) followed.push(event);
    return { result: endedResult(fresh, root, record), more: false };
  } finally {
    followed.close();
  }
}

/** A run that another process carries out, as its events show it. */
class FollowedRun {
  /** Path of the root; `undefined` as long as it is not known. */
  root: string | undefined;
  /** Sequence number of the last event that was passed on. */
  lastSeq: number;
  isStopped = false;
  readonly #session: Session;
  readonly #request: RunRequest;
  readonly #sink: RunSink;
  /** Runs of other lanes that have begun since. */
  readonly #others = new Set<string>();
  readonly #over = new AbortController();
  readonly #onSignal = (): void => this.#cancel();

  constructor(session: Session, request: RunRequest, sink: RunSink) {
    this.#session = session;
    this.#request = request;
    this.#sink = sink;
    const { posted, signal } = request;
    sink.attach({
      cancel: (reason) => this.#cancel(reason),
      stop: () => {
        this.isStopped = true;
        this.end();
      },
      poke: () => undefined,
    });
    if (signal?.aborted) this.#onSignal();
    else signal?.addEventListener('abort', this.#onSignal, { once: true });
    // A request without an input of its own follows the run that is open.
    this.root =
      posted === undefined
        ? (rootAskedBefore(session, request) ?? openRoot(session, request.lane))?.path
        : rootOfPosted(session, posted);
    this.lastSeq = session.ledger.durableSeq;
    this.#confirmAccepted();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  #cancel(reason?: string): void {
    const { lane } = this.#request;
    void postCancel(this.#session.ledger, { by: 'user', reason, lane }).catch(() => undefined);
  }

  #confirmAccepted(): void {
    const { root: runId } = this;
    const { id: session } = this.#session;
    if (runId !== undefined) this.#sink.accept(() => ({ session, runId }));
  }

  /** Passes events on until the run has ended or waits. Returns false when following was ended. */
  async follow(): Promise<boolean> {
    const { id, ledger } = this.#session;
    const { store } = ledger.ports;
    for await (const event of store.follow(id, ledger.durableSeq, this.signal)) {
      this.lastSeq = event.seq;
      this.push(event);
      if (event.type === 'invocation_start') this.#noteStart(event);
      this.#noteInput(event);
      if (this.#isRest(event)) return true;
    }
    return false;
  }

  /** Passes an event on, unless it belongs to the run of another lane. */
  push(event: Event): void {
    const { invocations } = this.#session.ledger;
    const { lane } = this.#request;
    if (event.type === 'invocation_start' && event.mode === 'root' && !this.#isOfLane(event))
      this.#others.add(event.invocationId);
    const root = rootOf(event.invocationId ?? '');
    if (this.#others.has(root) || isOfOtherLane(invocations, event, lane)) return;
    this.#sink.push(event);
  }

  #isOfLane(event: EventOf<'invocation_start'>): boolean {
    return (event.lane ?? defaultLane) === this.#request.lane;
  }

  #noteStart(event: EventOf<'invocation_start'>): void {
    if (event.mode !== 'root' || this.root !== undefined || !this.#isOfLane(event)) return;
    const { posted } = this.#request;
    const { invocationId: path, kind, name } = event;
    assertRequested(this.#session, { path, kind, name }, this.#request);
    if (posted === undefined || posted === event.invocationId) this.root = event.invocationId;
    this.#confirmAccepted();
  }

  #noteInput(event: Event): void {
    const { posted } = this.#request;
    if (posted === undefined || !hasTaken(event, posted)) return;
    this.root = event.invocationId === undefined ? undefined : rootOf(event.invocationId);
  }

  /** Checks that an event is the end or the yield of the root or of a handoff of it. */
  #isRest(event: Event): boolean {
    const isRest =
      (event.type === 'invocation_end' && event.next === undefined) ||
      event.type === 'invocation_yield';
    return isRest && this.root !== undefined && isRootOf(event.invocationId, this.root);
  }

  end(): void {
    this.#over.abort();
  }

  /** Ends following, and no longer listens to the signal of the caller. */
  close(): void {
    this.end();
    this.#request.signal?.removeEventListener('abort', this.#onSignal);
  }
}

/** Resolves when no process holds the session any more. */
async function untilFree({ id, app, ledger }: Session, signal: AbortSignal): Promise<void> {
  const { host, store, owner, leaseMs } = ledger.ports;
  while (!signal.aborted) {
    const { promise: isTime, resolve } = Promise.withResolvers<void>();
    const cancel = host.clock.setTimer(retryMs, resolve);
    const onAbort = (): void => resolve(cancel());
    signal.addEventListener('abort', onAbort, { once: true });
    await isTime;
    signal.removeEventListener('abort', onAbort);
    if (signal.aborted) return;
    try {
      // A claim would create a deleted session anew.
      if ((await store.head(id)) === undefined)
        throw new SessionNotFoundError({ session: id, app });
      await store.release(await store.claim(id, `${owner}/asking`, { ttlMs: leaseMs }));
      return;
    } catch (error) {
      if (!isAdjutantError(error, 'session_busy')) throw error;
    }
  }
}
