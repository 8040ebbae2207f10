import { LedgerConflictError, SessionBusyError } from '../ledger/errors.ts';
import type { Event } from '../ledger/event.ts';
import type {
  AppendReceipt,
  Batch,
  Claim,
  ClaimOptions,
  Head,
  InboxEntry,
  InboxItem,
  PostReceipt,
  ReleaseOptions,
  ReleaseReceipt,
  SessionListing,
  SessionSummary,
} from '../ledger/port.ts';
import { isOwnerGone } from './owner.ts';

interface Lease {
  readonly owner: string;
  readonly ttl: number;
  until: number;
}

/** The prefix that a fork shares with the ledger it comes from. */
interface Origin {
  readonly ledger: MemoryLedger;
  readonly seq: number;
}

const pageSize = 2_000;

/** One ledger in memory: its own events, and the prefix of another one when it is a fork. */
export class MemoryLedger {
  readonly session: string;
  readonly createdAt: number;
  readonly #origin: Origin | undefined;
  readonly #events: Event[] = [];
  #epoch = 0;
  #inboxSeq = 0;
  #lease: Lease | undefined;
  #updatedAt: number;
  #summary: SessionSummary = { status: 'active' };
  readonly #inbox = new Map<number, InboxEntry>();
  readonly #postedKeys = new Set<string>();

  constructor(session: string, now: number, origin?: Origin) {
    this.session = session;
    this.createdAt = now;
    this.#updatedAt = now;
    this.#origin = origin;
  }

  get seq(): number {
    return (this.#origin?.seq ?? 0) + this.#events.length;
  }

  get receipt(): AppendReceipt {
    return { seq: this.seq, epoch: this.#epoch, inboxSeq: this.#inboxSeq };
  }

  get listing(): SessionListing {
    return { ...this.#summary, id: this.session, seq: this.seq, createdAt: this.createdAt, updatedAt: this.#updatedAt };
  }

  claim(owner: string, options: ClaimOptions, now: number): Claim {
    const held = this.#lease;
    if (held !== undefined && held.owner !== owner && held.until > now && options.force !== true && !isOwnerGone(held.owner)) {
      throw new SessionBusyError({ session: this.session, owner: held.owner, until: held.until });
    }
    this.#epoch += 1;
    this.#lease = { owner, ttl: options.ttl, until: now + options.ttl };
    return { session: this.session, owner, epoch: this.#epoch, seq: this.seq, inboxSeq: this.#inboxSeq, until: this.#lease.until };
  }

  renew(claim: Claim, now: number): AppendReceipt {
    if (claim.epoch !== this.#epoch) throw this.#conflict({ seq: claim.seq, epoch: claim.epoch });
    this.#prolongLease(now);
    return this.receipt;
  }

  release(claim: Claim, { inboxSeq = this.#inboxSeq }: ReleaseOptions): ReleaseReceipt {
    const isLast = claim.epoch === this.#epoch;
    const released = !isLast || this.#inboxSeq <= inboxSeq;
    if (isLast && released) this.#lease = undefined;
    return { released, inboxSeq: this.#inboxSeq };
  }

  /** Whether the batch is in the ledger already. @throws LedgerConflictError when the head is neither before nor after it */
  checkHead(expected: Head, events: readonly Event[]): boolean {
    if (expected.epoch !== this.#epoch) throw this.#conflict(expected);
    if (expected.seq === this.seq) return false;
    const first = expected.seq - (this.#origin?.seq ?? 0);
    if (events.length === 0 || first < 0 || events.some((event, i) => this.#events[first + i]?.id !== event.id)) throw this.#conflict(expected);
    return true;
  }

  write(batch: Batch, now: number): void {
    for (const event of batch.events) this.#events.push(event);
    const last = batch.events.at(-1);
    if (last !== undefined) this.#updatedAt = last.at;
    if (batch.summary !== undefined) this.#summary = batch.summary;
    if (batch.consumes !== undefined) for (const position of batch.consumes) this.#inbox.delete(position);
    this.#prolongLease(now);
  }

  post(item: InboxItem): PostReceipt {
    const duplicate = this.#postedKeys.has(item.key);
    if (!duplicate) {
      this.#inboxSeq += 1;
      this.#postedKeys.add(item.key);
      this.#inbox.set(this.#inboxSeq, { ...item, position: this.#inboxSeq });
    }
    return { inboxSeq: this.#inboxSeq, duplicate };
  }

  inbox(): readonly InboxEntry[] {
    const entries = [...this.#inbox.values()];
    return [...entries.filter((entry) => entry.lane === 'control'), ...entries.filter((entry) => entry.lane === 'input')];
  }

  /** Events with `after < seq <= upTo`, as far as there are any, in pages; each page is cut when it is asked for. */
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

  fork(atSeq: number, newSession: string, now: number): MemoryLedger {
    // A fork of a shared prefix hangs on the ledger that holds the events, so chains grow only where ledgers did.
    if (this.#origin !== undefined && atSeq <= this.#origin.seq)
      return this.#origin.ledger.#forkInto(newSession, atSeq, now, this.#forkSummary(atSeq));
    return this.#forkInto(newSession, atSeq, now, this.#forkSummary(atSeq));
  }

  #forkInto(newSession: string, atSeq: number, now: number, summary: SessionSummary): MemoryLedger {
    if (this.#origin !== undefined && atSeq <= this.#origin.seq) return this.#origin.ledger.#forkInto(newSession, atSeq, now, summary);
    const fork = new MemoryLedger(newSession, now, { ledger: this, seq: atSeq });
    fork.#summary = summary;
    return fork;
  }

  #forkSummary(atSeq: number): SessionSummary {
    return atSeq === this.seq ? this.#summary : { ...this.#summary, status: 'active' };
  }

  #prolongLease(now: number): void {
    if (this.#lease !== undefined) this.#lease.until = now + this.#lease.ttl;
  }

  #conflict(expected: Head): LedgerConflictError {
    return new LedgerConflictError({
      session: this.session,
      expected: { seq: expected.seq, epoch: expected.epoch },
      found: { seq: this.seq, epoch: this.#epoch },
    });
  }
}
