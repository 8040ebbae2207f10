import type { AdjutantError } from '../base/error.ts';
import { isAdjutantError } from '../base/error.ts';
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { LedgerBlobs, mayHoldBlob } from './blobs/ledger-blobs.ts';
import type { LoadedBlobs } from './blobs/load-blobs.ts';
import { type Event, type EventDraft, eventVersions } from './event.ts';
import type { OpenEffects } from './folds/effect-fold.ts';
import type { InvocationTree } from './folds/invocation-fold.ts';
import { LedgerFolds } from './folds/ledger-folds.ts';
import { type PendingRequests, pendingRequestOf, requestIdOf } from './folds/request-fold.ts';
import type { LedgerState } from './folds/state-fold.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { Listeners } from './listeners.ts';
import type { PendingWrite } from './pending-write.ts';
import { isServiceSession } from './port/service-sessions.ts';
import type { ReleaseOptions, ReleaseReceipt, RequestDraft } from './port.ts';
import { sessionSummary } from './status.ts';
import { decodeEvent, isCurrent } from './upcast.ts';
import { Announcements } from './writer/announcements.ts';
import type { BatchBlob, BatchExtras } from './writer/batch.ts';
import { composedDraft } from './writer/late-changes.ts';
import { LedgerLease } from './writer/ledger-lease.ts';
import { type Recomposition, recompose, type SharedConflict } from './writer/refused-writes.ts';

export type { LedgerPorts } from './ledger-ports.ts';

/**
 * One ledger in memory: its events, the state folded from them, and the writer that makes new
 * events durable. An appended event is folded at once, as a draft. `onDurable` gets it only when it
 * is durable.
 */
export class Ledger {
  readonly session: string;
  /** All events; the same array for the life of the ledger. */
  readonly events: Event[];
  /** Ids of requests whose answers are posted and not yet in the ledger. */
  readonly accepted = new Set<string>();
  /** Id of the session's `user` scope, for its requests and its entry in the session list. */
  user: string | undefined;
  readonly ports: LedgerPorts;
  /** Ownership of the ledger by this process. */
  readonly lease: LedgerLease;
  readonly #writer: LedgerWriter;
  /** Hashes of the prompt contents that the ledger holds. */
  readonly contents: Set<string>;
  /** Refused shared writes that no caller has got as an error yet. */
  readonly conflicts: AdjutantError[] = [];
  /** Large values of the events. */
  readonly blobs: LedgerBlobs;
  readonly #draftListeners = new Listeners<Event>();
  readonly #durableListeners = new Listeners<readonly Event[]>();
  readonly #failureListeners = new Listeners<unknown>();
  readonly #inboxListeners = new Listeners<number>();
  readonly #announcements = new Announcements();
  readonly #idPrefix: string;
  /** Returns a recorded value as it was given: with large values in the place of references. */
  readonly resolve: (value: unknown) => unknown;
  readonly #folds = new LedgerFolds();

  /**
   * Makes a ledger of events.
   * @param loaded large values that the events refer to
   * @param stored number of events in the store. When `events` has fewer, `load` must be called
   * with them before anything else.
   */
  constructor(
    session: string,
    ports: LedgerPorts,
    events: readonly Event[],
    loaded?: LoadedBlobs,
    stored: number = events.length,
  ) {
    this.session = session;
    this.events = this.#folds.events;
    this.contents = this.#folds.contents;
    this.ports = ports;
    this.#idPrefix = ports.ids.next().slice(0, 10);
    this.blobs = new LedgerBlobs(ports, loaded);
    this.resolve = this.blobs.resolve;
    for (const event of events) this.#foldForeign(event);
    this.lease = new LedgerLease({
      session,
      ports,
      durableSeq: () => this.durableSeq,
      failure: () => this.failure,
      onLost: (error) => this.fail(error),
      onInbox: (inboxSeq) => this.#inboxListeners.tell(inboxSeq),
    });
    this.#writer = new LedgerWriter(
      {
        store: ports.store,
        machine: ports.host.clock,
        leaseMs: ports.leaseMs,
        lease: this.lease,
        onDurable: (landed) => this.#durableListeners.tell(landed),
        onSends: () => ports.onSends?.(session),
        onFailure: (error) => this.#failed(error),
        // One of a service has no runs and no messages, and may have many events.
        summary: () => (isServiceSession(session) ? { status: 'active' } : sessionSummary(this)),
        recompose: (drafts, writes, conflict) => this.#recompose(drafts, writes, conflict),
      },
      stored,
    );
  }

  /** Folds the stored events. Other work of the process gets its turn meanwhile. */
  async load(events: readonly Event[]): Promise<void> {
    for (const event of events) {
      this.#foldForeign(event);
      const turn = this.ports.host.turns.pass();
      if (turn !== undefined) await turn;
    }
  }

  /** The state of all scopes after the last event. */
  get state(): LedgerState {
    return this.#folds.state;
  }

  get invocations(): InvocationTree {
    return this.#folds.invocations;
  }

  get effects(): OpenEffects {
    return this.#folds.effects;
  }

  get requests(): PendingRequests {
    return this.#folds.requests;
  }

  get lastSeq(): number {
    return this.events.length;
  }

  get durableSeq(): number {
    return this.#writer.durableSeq;
  }

  /** The error that stopped the writer for good; `undefined` while it works. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#writer.failure;
  }

  /** Folds an event that this object did not make. */
  #foldForeign(event: Event): void {
    this.#folds.add(event, mayHoldBlob(event) ? this.whole(event) : event);
  }

  /** Returns an event as it was given: with large values in the place of references. */
  whole<E extends Event>(event: E): E {
    return this.resolve(event) as E;
  }

  /**
   * Appends events in one batch. They are folded before this returns, and durable within a few
   * milliseconds; `durable()` waits for that.
   */
  append(drafts: readonly EventDraft[], extras?: BatchExtras): readonly Event[] {
    const announced = this.#announcements.take(drafts);
    if (announced.length === 0) return this.#append(drafts, extras);
    return this.#append([...announced, ...drafts], extras).slice(announced.length);
  }

  /**
   * Appends a draft right before the first draft that `isMeant` accepts, if there ever is one.
   * Returns a function that ends it.
   */
  announce(draft: EventDraft, isMeant: (draft: EventDraft) => boolean): () => void {
    return this.#announcements.add(draft, isMeant);
  }

  #append(drafts: readonly EventDraft[], extras: BatchExtras | undefined): readonly Event[] {
    const failure = this.#writer.failure;
    if (failure !== undefined) throw failure.error;
    const now = this.ports.clock.now();
    const at = Math.max(now, this.#folds.lastAt);
    const appended: Event[] = [];
    const blobs: BatchBlob[] = [];
    for (const late of drafts) {
      const given = composedDraft(late);
      if (given === undefined) continue;
      const draft = this.blobs.record(given, blobs);
      const seq = this.events.length + 1;
      const placed = this.ports.recording?.take(draft) ?? draft;
      const event = deepFreeze({
        v: eventVersions[draft.type],
        seq,
        id: `${this.#idPrefix}${seq.toString(36)}`,
        at,
        ...placed,
      }) as Event;
      this.#folds.add(event, draft === given ? event : this.whole(event));
      appended.push(event);
    }
    this.#writer.add(appended, blobs.length === 0 ? extras : { ...extras, blobs });
    this.#draftListeners.tellAll(appended);
    return appended;
  }

  /**
   * Appends recorded events with new sequence numbers, for replays. Their large values must be in
   * memory already.
   */
  adopt(recorded: readonly Event[]): void {
    const { failure } = this.#writer;
    if (failure !== undefined) throw failure.error;
    const announced = this.#announcements.take(recorded);
    if (announced.length > 0) this.#append(announced, undefined);
    const requests: RequestDraft[] = [];
    this.blobs.noteReferences(recorded);
    const adopted = recorded.map((given) => {
      const event = deepFreeze({ ...given, seq: this.events.length + 1 }) as Event;
      this.#foldForeign(event);
      if (event.type === 'tool_yield')
        requests.push(pendingRequestOf(this.whole(event), this.session, this.user));
      return event;
    });
    this.#writer.add(adopted, requests.length === 0 ? undefined : { requests });
    this.#draftListeners.tellAll(adopted);
  }

  /**
   * Replaces drafts whose shared writes were refused or made again, and folds the state from the
   * start.
   */
  #recompose(
    drafts: readonly Event[],
    writes: readonly PendingWrite[],
    conflict: SharedConflict,
  ): Recomposition & { readonly blobs: BatchBlob[] } {
    // Made from the given events. The recorded ones would be escaped twice.
    const given = new Map(drafts.map((draft) => [this.whole(draft), draft]));
    const remade = recompose([...given.keys()], writes, conflict);
    const events = new Map<Event, Event>();
    const blobs: BatchBlob[] = [];
    for (const [wholeBefore, whole] of remade.events) {
      const before = given.get(wholeBefore) as Event;
      const after = deepFreeze(this.blobs.record(whole, blobs)) as Event;
      this.#folds.replace(before, after, this.whole(after));
      events.set(before, after);
      // A refusal inside a run is reported there.
      if (after.type === 'decision' && after.invocationId === undefined)
        this.conflicts.push(conflict.error);
    }
    this.#folds.refoldState((event) => this.whole(event));
    return { events, writes: remade.writes, blobs };
  }

  /**
   * Takes over events of another ledger as they are, to make an empty ledger a copy. They refer to
   * the given blobs only, even when the store holds others.
   */
  restore(events: readonly Event[], blobs: Readonly<Record<string, JsonValue>>): void {
    // Events that this build cannot read are refused before anything is kept.
    const read = events.map((event) =>
      isCurrent(event) ? event : decodeEvent(event, this.session),
    );
    const own = this.blobs.adopt(read, blobs);
    for (const event of own.events) this.#foldForeign(deepFreeze(event));
    if (own.events.length > 0)
      this.#writer.add(own.events, { blobs: own.blobs, requests: this.#ownRequests() });
  }

  /** Requests that this very ledger made; a copy under another name makes its own. */
  #ownRequests(): RequestDraft[] {
    const own = [...this.requests.values()].filter(
      ({ requestId, callId, generation }) => requestId === this.requestId(callId, generation),
    );
    return own.map((event) => pendingRequestOf(event, this.session, this.user));
  }

  /**
   * Resolves when all events appended so far are durable; `undefined` when they already are.
   * @throws the error of the store, also in later calls
   */
  durable(): Promise<void> | undefined {
    // Dropped events are no longer counted, and yet they did not become durable.
    const { failure } = this;
    if (failure !== undefined && isAdjutantError(failure.error, 'ledger_conflict'))
      return Promise.reject(failure.error);
    return this.#writer.durable(this.lastSeq);
  }

  /** Resolves when all events and all that lands with them are durable. */
  async flush(): Promise<void> {
    await this.durable();
    await this.#writer.idle();
    const { failure } = this;
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Writes the remaining events and releases the ledger; with `inboxSeq` only if no newer item was
   * posted.
   * @throws the error that made the writer fail; others can claim the session all the same
   */
  async release(options?: ReleaseOptions): Promise<Omit<ReleaseReceipt, 'now'>> {
    if (this.failure === undefined) await this.durable();
    if (this.failure === undefined) await this.#writer.idle();
    return this.lease.release(options);
  }

  /** Declares the ledger lost to this process, for instance when its lease was not renewed. */
  fail(error: unknown): void {
    this.#writer.fail(error);
  }

  #failed(error: unknown): void {
    if (isAdjutantError(error, 'ledger_conflict')) this.#dropDrafts();
    // A run that works on the ledger listens, and releases it when its work has ended.
    if (this.#failureListeners.isEmpty) void this.release().catch(() => undefined);
    this.#failureListeners.tell(error);
  }

  /** Drops the drafts: another owner has written events in their place. */
  #dropDrafts(): void {
    const durable = this.#folds.clear().slice(0, this.durableSeq);
    for (const event of durable) this.#foldForeign(event);
  }

  /**
   * Calls `listener` with each event as soon as it is folded, before it is durable. Returns a
   * function that ends it.
   */
  onDraft(listener: (event: Event) => void): () => void {
    return this.#draftListeners.add(listener);
  }

  /** Calls `listener` with durable events, in order. Returns a function that ends it. */
  onDurable(listener: (events: readonly Event[]) => void): () => void {
    return this.#durableListeners.add(listener);
  }

  /** Calls `listener` when the store reports a new inbox item. Returns a function that ends it. */
  onInbox(listener: (inboxSeq: number) => void): () => void {
    return this.#inboxListeners.add(listener);
  }

  /** Makes the id of a request about a call in this ledger. */
  requestId(callId: string, generation: number): string {
    return requestIdOf(this.ports.scope, { session: this.session, callId, generation });
  }

  /** Calls `listener` when the writer has failed for good. Returns a function that ends it. */
  onFailure(listener: (error: unknown) => void): () => void {
    return this.#failureListeners.add(listener);
  }
}
