import type { Clock } from '../base/clock.ts';
import type { AdjutantError } from '../base/error.ts';
import { isAdjutantError } from '../base/error.ts';
import type { IdSource } from '../base/id.ts';
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { systemTurns } from '../base/turns.ts';
import { asLiteral, exchangeReferences, findReferences, replaceReferences } from './blobs/blob.ts';
import { blobAddress } from './blobs/blob-address.ts';
import { recordable } from './blobs/large-values.ts';
import { type LoadedBlobs, loadBlobs } from './blobs/load-blobs.ts';
import { LedgerConflictError, SessionDeletedError } from './errors.ts';
import { type Event, type EventDraft, eventVersions, foldEvent } from './event.ts';
import { effectFold, noOpenEffects, type OpenEffects } from './folds/effect-fold.ts';
import {
  emptyInvocationTree,
  type InvocationTree,
  invocationFold,
  replaceInTree,
} from './folds/invocation-fold.ts';
import {
  type PendingRequests,
  pendingRequestOf,
  requestFold,
  requestIdOf,
} from './folds/request-fold.ts';
import { StateAccumulator } from './folds/state-accumulator.ts';
import type { LedgerState } from './folds/state-fold.ts';
import { composedDraft } from './late-changes.ts';
import { type BatchBlob, type BatchExtras, LedgerWriter } from './ledger-writer.ts';
import type { PendingWrite } from './pending-write.ts';
import type { Claim, LedgerStore, PendingRequest, ReleaseOptions, ReleaseReceipt } from './port.ts';
import { type Recomposition, recompose, type SharedConflict } from './refused-writes.ts';
import { refuseSealed } from './sealed-event.ts';
import { sessionSummary } from './status.ts';
import type { LedgerTape } from './tape.ts';
import { decodeEvent, isCurrent } from './upcast.ts';

export interface LedgerPorts {
  readonly store: LedgerStore;
  /** What the store was opened for. */
  readonly scope: { readonly tenant: string; readonly app: string };
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Name of this process for the lease. */
  readonly owner: string;
  /** Milliseconds that a lease lasts without an append or renewal. */
  readonly leaseMs: number;
  /**
   * The secret that addresses of large values are made with. @default none, for stores that have
   * none
   */
  readonly addressKey?: Uint8Array | undefined;
  /** The record that is replayed, if one is. */
  readonly tape?: LedgerTape | undefined;
}

/** A draft that is appended right before the first one that it is said of. */
interface Announcement {
  readonly draft: EventDraft;
  readonly isSaidOf: (draft: EventDraft) => boolean;
}

type Listener<Argument> = (argument: Argument) => void;

/**
 * One ledger in memory: its events, what is folded from them, and the writer that makes new ones
 * durable. An appended event is folded at once, as a draft; it is handed to listeners only when it
 * is durable.
 */
export class Ledger {
  readonly session: string;
  readonly events: Event[] = [];
  invocations: InvocationTree = emptyInvocationTree();
  #state = new StateAccumulator();
  effects: OpenEffects = noOpenEffects();
  requests: PendingRequests = new Map();
  /** Requests that were answered by posts which the ledger has not taken in yet. */
  readonly accepted = new Set<string>();
  /**
   * Id of the session's `user` scope, which its requests and its entry in the session list name.
   */
  user: string | undefined;
  readonly ports: LedgerPorts;
  readonly #writer: LedgerWriter;
  /** Contents of prompts that the ledger holds, by hash. */
  readonly contents = new Set<string>();
  /** Refused shared writes that nobody has been told of yet. */
  readonly conflicts: AdjutantError[] = [];
  readonly #blobs = new Map<string, JsonValue>();
  readonly #draftListeners = new Set<Listener<Event>>();
  readonly #durableListeners = new Set<Listener<readonly Event[]>>();
  readonly #failureListeners = new Set<Listener<unknown>>();
  readonly #inboxListeners = new Set<Listener<number>>();
  readonly #announcements = new Set<Announcement>();
  readonly #idPrefix: string;
  /**
   * The references in the events: what is copied out of one event of this ledger into another stays
   * one.
   */
  readonly #references = new WeakSet<object>();
  /** Whether any event has something that readers must turn back. */
  #holdsEscaped = false;
  readonly #addressOf = (bytes: Uint8Array): string =>
    blobAddress(this.ports.scope, bytes, this.ports.addressKey);
  #lastAt = 0;

  /**
   * @param loaded what the events refer to
   * @param stored how many events the store has; those that are not given are taken in by `load`,
   * before anything else
   */
  constructor(
    session: string,
    ports: LedgerPorts,
    events: readonly Event[],
    loaded?: LoadedBlobs,
    stored: number = events.length,
  ) {
    this.session = session;
    this.ports = ports;
    this.#idPrefix = ports.ids.next().slice(0, 10);
    if (loaded !== undefined) {
      for (const [address, value] of loaded.blobs) this.#keepBlob(address, value);
      for (const reference of loaded.references) this.#references.add(reference);
      this.#holdsEscaped = loaded.isEscaped;
    }
    for (const event of events) this.#foldForeign(event);
    this.#writer = new LedgerWriter(
      {
        store: ports.store,
        clock: ports.clock,
        leaseMs: ports.leaseMs,
        claim: () => this.#claim(),
        onDurable: (landed) => {
          for (const listener of this.#durableListeners) listener(landed);
        },
        onInbox: (inboxSeq) => {
          for (const listener of this.#inboxListeners) listener(inboxSeq);
        },
        onFailure: (error) => this.#failed(error),
        summary: () => sessionSummary(this),
        recompose: (drafts, writes, conflict) => this.#recompose(drafts, writes, conflict),
      },
      stored,
    );
  }

  /**
   * Takes in what the store has; others of the process have their turn meanwhile, however long the
   * ledger is.
   */
  async load(events: readonly Event[]): Promise<void> {
    for (const event of events) {
      this.#foldForeign(event);
      const turn = systemTurns.pass();
      if (turn !== undefined) await turn;
    }
  }

  /** The state of all scopes after the last event. */
  get state(): LedgerState {
    return this.#state.current;
  }

  get lastSeq(): number {
    return this.events.length;
  }

  get durableSeq(): number {
    return this.#writer.durableSeq;
  }

  get epoch(): number {
    return this.#writer.claim?.epoch ?? 0;
  }

  get claim(): Claim | undefined {
    return this.#writer.claim;
  }

  /** What made the writer stop for good, if anything did. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#writer.failure;
  }

  /**
   * The claim fails when the ledger has moved on since it was read: what is folded here would not
   * be the truth.
   */
  async #claim(): Promise<Claim> {
    const { store, owner, leaseMs } = this.ports;
    // A claim makes a ledger where there is none: one that was deleted must not come back as an
    // empty one.
    if (this.#writer.durableSeq > 0 && (await store.head(this.session)) === undefined)
      throw new SessionDeletedError({ session: this.session });
    const claim = await store.claim(this.session, owner, { ttl: leaseMs });
    if (claim.seq !== this.#writer.durableSeq) {
      await store.release(claim);
      throw new LedgerConflictError({
        session: this.session,
        expected: { seq: this.#writer.durableSeq, epoch: claim.epoch },
        found: { seq: claim.seq, epoch: claim.epoch },
      });
    }
    return claim;
  }

  /**
   * What is folded has its large values, so that nobody has to look for references in state, inputs
   * and outputs.
   */
  #fold(event: Event, whole: Event): void {
    this.events.push(event);
    if (event.at > this.#lastAt) this.#lastAt = event.at;
    foldEvent(invocationFold, this.invocations, whole);
    this.#state.add(whole);
    foldEvent(effectFold, this.effects, event);
    foldEvent(requestFold, this.requests, whole);
    if (event.type === 'model_start' && event.recipe.contents !== undefined)
      for (const hash of Object.keys(event.recipe.contents)) this.contents.add(hash);
  }

  /** Takes in an event that this object did not make, and remembers what it refers to. */
  #foldForeign(event: Event): void {
    this.#fold(event, mayHoldBlob(event) ? this.whole(event) : event);
  }

  /** An event as it was given: with its large values in the place of their references. */
  whole<E extends Event>(event: E): E {
    return this.resolve(event) as E;
  }

  /**
   * Appends events in one batch. They are folded before this returns and durable within a few
   * milliseconds; `durable()` waits for that.
   */
  append(drafts: readonly EventDraft[], extras?: BatchExtras): readonly Event[] {
    const announced = this.#announcements.size === 0 ? [] : this.#announcedOf(drafts);
    if (announced.length === 0) return this.#append(drafts, extras);
    return this.#append([...announced, ...drafts], extras).slice(announced.length);
  }

  /**
   * Appends a draft right before the first one that it is said of, if there ever is one. Returns a
   * function that ends it.
   */
  announce(draft: EventDraft, isSaidOf: (draft: EventDraft) => boolean): () => void {
    const announcement = { draft, isSaidOf };
    this.#announcements.add(announcement);
    return () => this.#announcements.delete(announcement);
  }

  #announcedOf(drafts: readonly EventDraft[]): EventDraft[] {
    const due = [...this.#announcements].filter(({ isSaidOf }) => drafts.some(isSaidOf));
    for (const announcement of due) this.#announcements.delete(announcement);
    return due.map(({ draft }) => draft);
  }

  #append(drafts: readonly EventDraft[], extras: BatchExtras | undefined): readonly Event[] {
    const failure = this.#writer.failure;
    if (failure !== undefined) throw failure.error;
    const now = this.ports.clock.now();
    const at = now > this.#lastAt ? now : this.#lastAt;
    const appended: Event[] = [];
    const blobs: BatchBlob[] = [];
    for (const late of drafts) {
      const given = composedDraft(late);
      if (given === undefined) continue;
      const draft = this.#recordable(given, blobs);
      const seq = this.events.length + 1;
      const placed = this.ports.tape?.take(draft) ?? draft;
      const event = deepFreeze({
        v: eventVersions[draft.type],
        seq,
        id: `${this.#idPrefix}${seq.toString(36)}`,
        at,
        ...placed,
      }) as Event;
      this.#fold(event, draft === given ? event : this.whole(event));
      appended.push(event);
    }
    this.#writer.add(appended, blobs.length === 0 ? extras : { ...extras, blobs });
    for (const listener of this.#draftListeners) for (const event of appended) listener(event);
    return appended;
  }

  /**
   * Appends events of a record as they are, but for their places: for replays. Their large values
   * must be known already.
   */
  adopt(recorded: readonly Event[]): void {
    const { failure } = this.#writer;
    if (failure !== undefined) throw failure.error;
    const announced = this.#announcedOf(recorded);
    if (announced.length > 0) this.#append(announced, undefined);
    const requests: PendingRequest[] = [];
    this.#lookInto(recorded);
    const adopted = recorded.map((given) => {
      const event = deepFreeze({ ...given, seq: this.events.length + 1 }) as Event;
      this.#foldForeign(event);
      if (event.type === 'tool_yield')
        requests.push(pendingRequestOf(this.whole(event), this.session, this.user));
      return event;
    });
    this.#writer.add(adopted, requests.length === 0 ? undefined : { requests });
    for (const listener of this.#draftListeners) for (const event of adopted) listener(event);
  }

  /**
   * Puts other events in the place of drafts whose shared writes were refused or made again, and
   * folds the state anew.
   */
  #recompose(
    drafts: readonly Event[],
    writes: readonly PendingWrite[],
    conflict: SharedConflict,
  ): Recomposition & { readonly blobs: BatchBlob[] } {
    // Made of what was given and not of what is recorded, or it would be escaped twice.
    const given = new Map(drafts.map((draft) => [this.whole(draft), draft]));
    const remade = recompose([...given.keys()], writes, conflict);
    const events = new Map<Event, Event>();
    const blobs: BatchBlob[] = [];
    for (const [wholeBefore, whole] of remade.events) {
      const before = given.get(wholeBefore) as Event;
      const after = deepFreeze(this.#recordable(whole, blobs)) as Event;
      this.events[before.seq - 1] = after;
      replaceInTree(this.invocations, before.seq, this.whole(after));
      events.set(before, after);
      // What happened in a run is told there.
      if (after.type === 'decision' && after.invocationId === undefined)
        this.conflicts.push(conflict.error);
    }
    this.#state = new StateAccumulator();
    for (const event of this.events) this.#state.add(this.whole(event));
    return { events, writes: remade.writes, blobs };
  }

  /** A draft as it is recorded; its large values are kept beside it. */
  #recordable<Draft extends EventDraft>(given: Draft, blobs: BatchBlob[]): Draft {
    const { draft, large, isEscaped } = recordable(given, this.#addressOf, (value) =>
      this.#references.has(value),
    );
    if (isEscaped) this.#holdsEscaped = true;
    for (const { address, bytes, value, reference } of large) {
      this.#references.add(reference);
      this.#keepBlob(address, value as JsonValue);
      blobs.push(this.#put(address, bytes));
    }
    return draft;
  }

  #put(address: string, bytes: Uint8Array): BatchBlob {
    // Not awaited: the store keeps requests in order, and the writer puts a blob that did not
    // arrive again.
    void this.ports.store.putBlob(bytes, address).catch(() => undefined);
    return { address, bytes };
  }

  #keepBlob(address: string, value: JsonValue): void {
    this.#blobs.set(address, asLiteral(deepFreeze(value)));
  }

  /**
   * Looks for references in recorded events, and for what must be turned back when they are read.
   */
  #lookInto(recorded: readonly Event[]): void {
    const isEscaped = findReferences(recorded, (reference) => {
      if (this.#blobs.has(reference.$blob)) this.#references.add(reference);
    });
    if (isEscaped) this.#holdsEscaped = true;
  }

  /**
   * Takes over events of another ledger as they are: for an empty ledger that becomes a copy. They
   * refer to nothing but what is given with them, whatever the store holds.
   */
  restore(events: readonly Event[], blobs: Readonly<Record<string, JsonValue>>): void {
    // What this build cannot read is refused before anything is kept.
    const read = events.map((event) =>
      isCurrent(event) ? event : decodeEvent(event, this.session),
    );
    const addresses = new Map<string, string>();
    const put: BatchBlob[] = [];
    for (const [given, value] of Object.entries(blobs)) {
      const bytes = new TextEncoder().encode(JSON.stringify(value));
      // Another tenant or app has other addresses.
      const address = this.#addressOf(bytes);
      addresses.set(given, address);
      this.#keepBlob(address, value);
      put.push(this.#put(address, bytes));
    }
    const own = read.map((event) => {
      return exchangeReferences(event, (reference) => {
        const $blob = addresses.get(reference.$blob);
        return $blob === undefined ? undefined : { ...reference, $blob };
      }) as Event;
    });
    this.#lookInto(own);
    for (const event of own) this.#foldForeign(deepFreeze(event));
    if (own.length > 0) this.#writer.add(own, { blobs: put, requests: this.#ownRequests() });
  }

  /** Questions that this very ledger asked; a copy under another name asks its own. */
  #ownRequests(): PendingRequest[] {
    const own = [...this.requests.values()].filter(
      ({ requestId, callId, generation }) => requestId === this.requestId(callId, generation),
    );
    return own.map((event) => pendingRequestOf(event, this.session, this.user));
  }

  /**
   * Resolves when everything appended so far is durable; `undefined` when it already is. @throws
   * what the store said, also later
   */
  durable(): Promise<void> | undefined {
    // What was dropped is no longer counted, and yet it did not become durable.
    const { failure } = this;
    if (failure !== undefined && isAdjutantError(failure.error, 'ledger_conflict'))
      return Promise.reject(failure.error);
    return this.#writer.durable(this.lastSeq);
  }

  /** Makes sure that this process owns the ledger. @throws SessionBusyError, LedgerConflictError */
  own(): Promise<Claim> {
    return this.#writer.own();
  }

  /**
   * Whether this process certainly still owns the ledger: to be asked as the last thing before an
   * effect. Judged by monotonic time from before each claim, append and renewal that the store
   * confirmed, so a process that was suspended finds its lease over.
   */
  leaseIsLive(): boolean {
    return this.#writer.leaseIsLive();
  }

  /**
   * Prolongs the lease, or claims a ledger that is not owned. A `LedgerConflictError` is the end of
   * this ledger. @throws what the store said
   */
  renewLease(): Promise<void> {
    return this.#writer.renewLease();
  }

  /**
   * Writes what is left and gives the ownership back; with `inboxSeq` only if nothing newer was
   * posted.
   * @throws what made the writer fail; others can take the session over then all the same
   */
  async release(options?: ReleaseOptions): Promise<Omit<ReleaseReceipt, 'now'>> {
    if (this.failure === undefined) await this.durable();
    if (this.failure === undefined) await this.#writer.idle();
    return this.#writer.release(options);
  }

  /** Declares the ledger lost to this process, as when its lease could not be renewed. */
  fail(error: unknown): void {
    this.#writer.fail(error);
  }

  #failed(error: unknown): void {
    if (isAdjutantError(error, 'ledger_conflict')) this.#dropDrafts();
    // Who works on the ledger gives it back when the work has ended.
    if (this.#failureListeners.size === 0) void this.release().catch(() => undefined);
    for (const listener of this.#failureListeners) listener(error);
  }

  /** What another owner's events have taken the place of has not happened. */
  #dropDrafts(): void {
    const durable = this.events.splice(0).slice(0, this.durableSeq);
    this.invocations = emptyInvocationTree();
    this.#state = new StateAccumulator();
    this.effects = noOpenEffects();
    this.requests = new Map();
    this.contents.clear();
    for (const event of durable) this.#foldForeign(event);
  }

  /**
   * Called with each event as soon as it is folded, before it is durable. Returns a function that
   * ends it.
   */
  onDraft(listener: Listener<Event>): () => void {
    this.#draftListeners.add(listener);
    return () => this.#draftListeners.delete(listener);
  }

  /** Called with events once they are durable, in order. Returns a function that ends it. */
  onDurable(listener: Listener<readonly Event[]>): () => void {
    this.#durableListeners.add(listener);
    return () => this.#durableListeners.delete(listener);
  }

  /** The last inbox item that the store told of. */
  get inboxSeq(): number {
    return this.#writer.inboxSeq;
  }

  /** Called when the store says that something was posted. Returns a function that ends it. */
  onInbox(listener: Listener<number>): () => void {
    this.#inboxListeners.add(listener);
    return () => this.#inboxListeners.delete(listener);
  }

  /** Names the next question about a call in this ledger. */
  requestId(callId: string, generation: number): string {
    return requestIdOf(this.ports.scope, { session: this.session, callId, generation });
  }

  /** Called when the writer can write no more. Returns a function that ends it. */
  onFailure(listener: Listener<unknown>): () => void {
    this.#failureListeners.add(listener);
    return () => this.#failureListeners.delete(listener);
  }

  /**
   * A recorded value as it was given: with what the blob store holds in the place of references.
   */
  readonly resolve = (value: unknown): unknown => {
    if (typeof value !== 'object' || (this.#blobs.size === 0 && !this.#holdsEscaped)) return value;
    // One whose value is lost stays.
    return replaceReferences(value, (reference) => this.#blobs.get(reference.$blob) ?? reference);
  };

  /** Takes large values to memory that events will refer to which are adopted later. */
  keepBlobs(blobs: Readonly<Record<string, JsonValue>>): void {
    for (const [address, value] of Object.entries(blobs)) this.#keepBlob(address, value);
  }

  /** The large values in memory, by address. */
  loadedBlobs(): Readonly<Record<string, JsonValue>> {
    return Object.fromEntries(this.#blobs);
  }
}

/**
 * Most events cannot hold a reference; looking into all of them would cost more than folding them.
 */
function mayHoldBlob(event: Event): boolean {
  switch (event.type) {
    case 'tool_result':
      if (event.editedArgs !== undefined || event.next !== undefined || event.notes !== undefined)
        return true;
      return Object.values(event.result).some((part) => typeof part === 'object');
    case 'model_start':
      return event.recipe.contents !== undefined;
    case 'model_end':
      return event.error !== undefined;
    case 'tool_attempt':
    case 'invocation_resume':
      return false;
    default:
      return true;
  }
}

async function withAddressKey(ports: LedgerPorts): Promise<LedgerPorts> {
  return { ...ports, addressKey: await ports.store.addressKey?.() };
}

/** A ledger that has no events yet. @throws StoreUnavailableError */
export async function newLedger(session: string, ports: LedgerPorts): Promise<Ledger> {
  return new Ledger(session, await withAddressKey(ports), []);
}

/**
 * Reads a whole ledger into memory. @throws SessionNotFoundError, LedgerUnreadableError,
 * StoreUnavailableError
 */
export async function openLedger(session: string, ports: LedgerPorts): Promise<Ledger> {
  const events: Event[] = [];
  for await (const page of ports.store.read(session)) {
    refuseSealed(page, session);
    for (const event of page) events.push(event);
  }
  const loaded = await loadBlobs(events.filter(mayHoldBlob), ports.store, session);
  const ledger = new Ledger(session, await withAddressKey(ports), [], loaded, events.length);
  await ledger.load(events);
  return ledger;
}
