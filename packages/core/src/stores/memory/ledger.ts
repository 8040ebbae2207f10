import { LedgerConflictError, SessionBusyError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type {
  AppendReceipt,
  Batch,
  Claim,
  ClaimOptions,
  FoldSnapshot,
  Head,
  InboxEntry,
  InboxItem,
  LedgerHead,
  PostReceipt,
  ReleaseOptions,
  ReleaseReceipt,
  SessionListing,
  SessionSummary,
} from '../../ledger/port.ts';
import { isOwnerGone, type OwnerSurvey } from '../owner.ts';
import type { TurnLease } from '../turns/turn-tables.ts';
import { copyJson } from './json.ts';

interface Lease {
  readonly owner: string;
  readonly ttlMs: number;
  until: number;
}

/** The prefix that a fork shares with the ledger it comes from. */
interface Origin {
  readonly ledger: MemoryLedger;
  readonly seq: number;
}

/** Events of a page: few enough to be decoded without a noticeable pause. */
const pageSize = 250;

/** One ledger in memory: its own events, and the prefix of another one when it is a fork. */
export class MemoryLedger {
  readonly session: string;
  /** Number that no other ledger of the store has or gets. */
  readonly number: number;
  readonly createdAt: number;
  /** True when a post made the session: its id stays unused when it is deleted. */
  isOpenedByPost = false;
  readonly #origin: Origin | undefined;
  readonly #events: Event[] = [];
  /** The forks whose prefix ends in the events of this ledger. */
  readonly #forks = new Set<MemoryLedger>();
  #isDeleted = false;
  #epoch: number;
  #inboxSeq = 0;
  #wakeAt: number | null = null;
  #lease: Lease | undefined;
  #updatedAt: number;
  #summary: SessionSummary = { status: 'active' };
  readonly #inbox = new Map<number, InboxEntry>();
  /** Positions of items that only inform. */
  readonly #informing = new Set<number>();
  readonly #postedKeys = new Set<string>();
  readonly #snapshots: FoldSnapshot[] = [];
  /** Addresses of blobs, each with the first `seq` that may refer to it. */
  readonly #blobs = new Map<string, number>();

  /** @param epoch the one before the first claim */
  constructor(
    { session, number }: { readonly session: string; readonly number: number },
    now: number,
    epoch: number,
    origin?: Origin,
  ) {
    this.session = session;
    this.number = number;
    this.createdAt = now;
    this.#updatedAt = now;
    this.#epoch = epoch;
    this.#origin = origin;
  }

  get seq(): number {
    return (this.#origin?.seq ?? 0) + this.#events.length;
  }

  get head(): LedgerHead {
    return { seq: this.seq, epoch: this.#epoch, inboxSeq: this.#inboxSeq };
  }

  get birth(): string {
    return String(this.number);
  }

  get lease(): TurnLease | undefined {
    const lease = this.#lease;
    return lease === undefined
      ? undefined
      : { owner: lease.owner, until: lease.until, epoch: this.#epoch };
  }

  get wakeAt(): number | null {
    return this.#wakeAt;
  }

  get listing(): SessionListing {
    return {
      ...this.#summary,
      id: this.session,
      seq: this.seq,
      createdAt: this.createdAt,
      updatedAt: this.#updatedAt,
    };
  }

  /** @throws SessionBusyError while another owner's lease is live, unless forced */
  assertFree(owner: string, options: ClaimOptions, now: number): void {
    const held = this.#lease;
    if (
      held !== undefined &&
      held.owner !== owner &&
      held.until > now &&
      options.force !== true &&
      !isOwnerGone(held.owner)
    ) {
      throw new SessionBusyError({ session: this.session, owner: held.owner, until: held.until });
    }
  }

  /** Claims a ledger that is free. */
  claim(owner: string, options: ClaimOptions, now: number): Claim {
    this.#epoch += 1;
    this.#lease = { owner, ttlMs: options.ttlMs, until: now + options.ttlMs };
    return {
      session: this.session,
      owner,
      epoch: this.#epoch,
      seq: this.seq,
      inboxSeq: this.#inboxSeq,
      until: this.#lease.until,
      now,
    };
  }

  renew(claim: Claim, now: number): AppendReceipt {
    if (claim.epoch !== this.#epoch) throw this.#conflict({ seq: claim.seq, epoch: claim.epoch });
    this.#prolongLease(now);
    return { ...this.head, now };
  }

  release(
    claim: Claim,
    { inboxSeq = this.#inboxSeq }: ReleaseOptions,
  ): Omit<ReleaseReceipt, 'now'> {
    const isLast = claim.epoch === this.#epoch;
    const released = !isLast || this.#inboxSeq <= inboxSeq;
    if (isLast && released) this.#lease = undefined;
    return { released, inboxSeq: this.#inboxSeq };
  }

  /**
   * Checks that the ledger is at the expected head; true when it holds the batch already.
   * @throws LedgerConflictError when the head is neither before nor after it
   */
  checkHead(expected: Head, events: readonly Event[]): boolean {
    if (expected.epoch !== this.#epoch) throw this.#conflict(expected);
    if (expected.seq === this.seq) return false;
    const first = expected.seq - (this.#origin?.seq ?? 0);
    if (
      events.length === 0 ||
      first < 0 ||
      events.some((event, i) => this.#events[first + i]?.id !== event.id)
    )
      throw this.#conflict(expected);
    return true;
  }

  /**
   * Replaces the entry in the session list, and fences a writer off whose lease is over. False when
   * the head is another one: nothing is to be replaced.
   * @throws SessionBusyError while a lease is live
   */
  beReplaced(
    { epoch, inboxSeq, seq }: LedgerHead,
    summary: SessionSummary | undefined,
    now: number,
  ): boolean {
    this.assertFree('', { ttlMs: 0 }, now);
    if (epoch !== this.#epoch || inboxSeq !== this.#inboxSeq || seq !== this.seq) return false;
    if (this.#lease !== undefined) this.#epoch += 1;
    this.#lease = undefined;
    this.#summary = summary ?? this.#summary;
    return true;
  }

  write(batch: Batch, now: number): void {
    for (const event of batch.events) this.#events.push(event);
    const last = batch.events.at(-1);
    if (last !== undefined) this.#updatedAt = last.at;
    if (batch.summary !== undefined) this.#summary = batch.summary;
    if (batch.wakeAt !== undefined) this.#wakeAt = batch.wakeAt;
    if (batch.consumes !== undefined)
      for (const position of batch.consumes) {
        this.#inbox.delete(position);
        this.#informing.delete(position);
      }
    const firstSeq = batch.events[0]?.seq ?? this.seq;
    if (batch.blobs !== undefined)
      for (const address of batch.blobs)
        if (!this.#blobs.has(address)) this.#blobs.set(address, firstSeq);
    this.#prolongLease(now);
  }

  /** True when a run with this id began in this ledger, and not in a prefix that it shares. */
  hasRun(run: string): boolean {
    return (
      !run.includes('/') &&
      this.#events.some(
        ({ type, invocationId }) => type === 'invocation_start' && invocationId === run,
      )
    );
  }

  hasPosted(key: string): boolean {
    return this.#postedKeys.has(key);
  }

  /** Notes the key of an item that is not added. */
  notePosted(key: string): void {
    this.#postedKeys.add(key);
  }

  /**
   * Adds an item that has not been posted before.
   * @param wakes false for one that only informs
   */
  post(item: InboxItem, wakes: boolean): Omit<PostReceipt, 'now'> {
    this.#inboxSeq += 1;
    this.#postedKeys.add(item.key);
    if (!wakes) this.#informing.add(this.#inboxSeq);
    this.#inbox.set(this.#inboxSeq, { ...item, position: this.#inboxSeq });
    return { inboxSeq: this.#inboxSeq, duplicate: false };
  }

  /** Time since which the session has something to do; `undefined` when it has nothing. */
  workSince(now: number): number | undefined {
    const wakes = this.#wakeAt !== null && this.#wakeAt <= now ? [this.#wakeAt] : [];
    // Most sessions have no work, and are asked often.
    if (this.#inbox.size === this.#informing.size && wakes.length === 0) return undefined;
    const items = [...this.#inbox.values()].filter(
      ({ position }) => !this.#informing.has(position),
    );
    return Math.min(...wakes, ...items.map(({ at }) => at));
  }

  /**
   * Returns the time since which the session has work and no owner; `undefined` when it has none.
   */
  dueSince(now: number, owners: OwnerSurvey): number | undefined {
    const since = this.workSince(now);
    if (since === undefined) return undefined;
    const lease = this.#lease;
    return lease !== undefined && lease.until > now && !owners.isGone(lease.owner)
      ? undefined
      : since;
  }

  putSnapshot(snapshot: FoldSnapshot): void {
    const place = this.#snapshots.findIndex(
      ({ key, seq }) => key === snapshot.key && seq === snapshot.seq,
    );
    this.#snapshots.splice(place < 0 ? this.#snapshots.length : place, 1, copyJson(snapshot));
  }

  getSnapshot(key: string, upTo: number): FoldSnapshot | undefined {
    const inherited = this.#origin?.ledger.getSnapshot(key, Math.min(upTo, this.#origin.seq));
    return this.#snapshots
      .filter((snapshot) => snapshot.key === key && snapshot.seq <= upTo)
      .reduce(
        (last, snapshot) => (last === undefined || snapshot.seq >= last.seq ? snapshot : last),
        inherited,
      );
  }

  /** Yields the addresses of all blobs that this ledger and its shared prefix refer to. */
  *blobsInUse(): Generator<string, void, undefined> {
    yield* this.#blobs.keys();
    if (this.#origin !== undefined) yield* this.#origin.ledger.blobsInUse();
  }

  /** True when this ledger or its shared prefix refers to a blob. */
  refersTo(address: string, upTo = Number.POSITIVE_INFINITY): boolean {
    const first = this.#blobs.get(address);
    if (first !== undefined && first <= upTo) return true;
    return this.#origin?.ledger.refersTo(address, Math.min(upTo, this.#origin.seq)) === true;
  }

  inbox(): readonly InboxEntry[] {
    const entries = [...this.#inbox.values()];
    return [
      ...entries.filter((entry) => entry.lane === 'control'),
      ...entries.filter((entry) => entry.lane === 'input'),
    ];
  }

  /** Yields events with `after < seq <= upTo` in pages; each page is cut when it is asked for. */
  *pages(after: number, upTo: number): Generator<readonly Event[], void, undefined> {
    const shared = this.#origin?.seq ?? 0;
    let last = after;
    if (this.#origin !== undefined && last < shared) {
      yield* this.#origin.ledger.pages(last, Math.min(upTo, shared));
      last = Math.max(last, Math.min(upTo, shared));
    }
    while (last < Math.min(upTo, this.seq)) {
      const end = Math.min(upTo, this.seq, last + pageSize);
      yield this.#events.slice(last - shared, end - shared);
      last = end;
    }
  }

  /** @param epoch the one before the first claim of the fork */
  fork(
    atSeq: number,
    fresh: { readonly session: string; readonly number: number },
    now: number,
    epoch: number,
  ): MemoryLedger {
    // A fork of a shared prefix refers to the ledger that holds the events. So chains grow only
    // where ledgers did.
    const holder = this.#holderOf(atSeq);
    const fork = new MemoryLedger(fresh, now, epoch, { ledger: holder, seq: atSeq });
    fork.#summary = this.#forkSummary(atSeq);
    holder.#forks.add(fork);
    return fork;
  }

  /** Yields this ledger and all that descend from it by forks. */
  *family(): Generator<MemoryLedger, void, undefined> {
    for (const fork of this.#forks) yield* fork.family();
    yield this;
  }

  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** Drops everything but the events that forks share. */
  delete(): void {
    this.#isDeleted = true;
    this.#lease = undefined;
    this.#wakeAt = null;
    this.#inbox.clear();
    this.#informing.clear();
    this.#postedKeys.clear();
    this.#snapshots.length = 0;
    this.#keepSharedEvents();
  }

  #keepSharedEvents(): void {
    const start = this.#origin?.seq ?? 0;
    const last = Math.max(start, ...Array.from(this.#forks, (fork) => fork.#origin?.seq ?? 0));
    this.#events.length = last - start;
    for (const [address, seq] of this.#blobs)
      if (seq > last || last === start) this.#blobs.delete(address);
    if (last === start && this.#origin !== undefined) this.#origin.ledger.#forgetFork(this);
  }

  #forgetFork(fork: MemoryLedger): void {
    this.#forks.delete(fork);
    if (this.#isDeleted) this.#keepSharedEvents();
  }

  #holderOf(seq: number): MemoryLedger {
    // A fork that shares nothing keeps no origin alive.
    if (this.#origin === undefined || this.#origin.seq === 0 || seq > this.#origin.seq) return this;
    return this.#origin.ledger.#holderOf(seq);
  }

  #forkSummary(atSeq: number): SessionSummary {
    return atSeq === this.seq ? this.#summary : { ...this.#summary, status: 'active' };
  }

  #prolongLease(now: number): void {
    if (this.#lease !== undefined) this.#lease.until = now + this.#lease.ttlMs;
  }

  #conflict(expected: Head): LedgerConflictError {
    return new LedgerConflictError({
      session: this.session,
      expected: { seq: expected.seq, epoch: expected.epoch },
      found: { seq: this.seq, epoch: this.#epoch },
    });
  }
}

/** Conflict of a writer whose ledger does not exist any more. */
export function nothingAt(session: string, { epoch, seq }: Head): LedgerConflictError {
  const found = { seq: 0, epoch: 0 };
  return new LedgerConflictError({ session, expected: { seq, epoch }, found });
}
