import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { basename } from 'node:path';
import type { Event } from 'adjutant';
import { LedgerConflictError } from 'adjutant/errors';
import type {
  AppendReceipt,
  Batch,
  Claim,
  Head,
  InboxEntry,
  InboxItem,
  LedgerHead,
} from 'adjutant/store';

/**
 * Changes of a ledger. Each is one line of its file, written whole or, at the end of the file,
 * taken for not written.
 */
type Line =
  | { readonly did: 'claim'; readonly owner: string; readonly ttl: number; readonly at: number }
  | {
      readonly did: 'append';
      readonly events: readonly Event[];
      readonly consumes: readonly number[];
      readonly at: number;
    }
  | { readonly did: 'renew'; readonly at: number }
  | { readonly did: 'release' }
  | { readonly did: 'post'; readonly item: InboxItem };

export interface Lease {
  readonly owner: string;
  readonly ttl: number;
  readonly until: number;
}

/**
 * One ledger, in a file of its own. What is in memory follows from the lines of the file, and from
 * nothing else.
 */
export class LedgerFile {
  readonly session: string;
  readonly #path: string;
  #file: number | undefined;
  #size = 0;
  #events: Event[] = [];
  #epoch = 0;
  #inboxSeq = 0;
  #lease: Lease | undefined;
  readonly #inbox = new Map<number, InboxEntry>();
  readonly #posted = new Set<string>();

  constructor(path: string, session: string) {
    this.#path = path;
    this.session = session;
    if (!existsSync(path)) return;
    const bytes = readFileSync(path);
    // A line without its end was being written when the process stopped: nobody was told that it is
    // there.
    this.#size = bytes.lastIndexOf('\n') + 1;
    const lines = bytes.subarray(0, this.#size).toString('utf8').split('\n');
    for (const line of lines) if (line !== '') this.#apply(JSON.parse(line) as Line);
  }

  /** Name of the file, which no other session has. */
  get name(): string {
    return basename(this.#path);
  }

  /** True once anybody has claimed it. */
  get exists(): boolean {
    return this.#epoch > 0;
  }

  get head(): LedgerHead {
    return { seq: this.#events.length, epoch: this.#epoch, inboxSeq: this.#inboxSeq };
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  get events(): readonly Event[] {
    return this.#events;
  }

  get inbox(): readonly InboxEntry[] {
    const entries = [...this.#inbox.values()];
    return [
      ...entries.filter(({ lane }) => lane === 'control'),
      ...entries.filter(({ lane }) => lane === 'input'),
    ];
  }

  claim(owner: string, ttl: number, now: number): Claim {
    this.#write({ did: 'claim', owner, ttl, at: now });
    return { session: this.session, owner, ...this.head, until: now + ttl, now };
  }

  renew(claim: Claim, now: number): AppendReceipt {
    if (claim.epoch !== this.#epoch) throw this.#conflict(claim);
    this.#write({ did: 'renew', at: now });
    return { ...this.head, now };
  }

  release(
    claim: Claim,
    seen: number = this.#inboxSeq,
  ): { readonly released: boolean; readonly inboxSeq: number } {
    const isLast = claim.epoch === this.#epoch;
    const released = !isLast || this.#inboxSeq <= seen;
    if (isLast && released) this.#write({ did: 'release' });
    return { released, inboxSeq: this.#inboxSeq };
  }

  /** Everything is checked before anything is written, and what is written is one line. */
  append(expected: Head, { events, consumes = [] }: Batch, now: number): AppendReceipt {
    if (expected.epoch !== this.#epoch) throw this.#conflict(expected);
    if (expected.seq !== this.#events.length) {
      const isThere =
        events.length > 0 && events.every(({ id }, i) => this.#events[expected.seq + i]?.id === id);
      if (!isThere) throw this.#conflict(expected);
    } else this.#write({ did: 'append', events, consumes, at: now });
    return { ...this.head, seq: expected.seq + events.length, now };
  }

  post(item: InboxItem): { readonly inboxSeq: number; readonly duplicate: boolean } {
    const duplicate = this.#posted.has(item.key);
    if (!duplicate) this.#write({ did: 'post', item });
    return { inboxSeq: this.#inboxSeq, duplicate };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #write(line: Line): void {
    // Not opened for appending, so that what a write that failed has left can be written over.
    this.#file ??= openSync(this.#path, existsSync(this.#path) ? 'r+' : 'w+', 0o600);
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    ftruncateSync(this.#file, this.#size);
    for (let written = 0; written < bytes.length; )
      written += writeSync(
        this.#file,
        bytes,
        written,
        bytes.length - written,
        this.#size + written,
      );
    fsyncSync(this.#file);
    this.#size += bytes.length;
    // The memory keeps the JSON that another process would read, not the given value.
    this.#apply(JSON.parse(bytes.toString('utf8')) as Line);
  }

  #apply(line: Line): void {
    if (line.did === 'claim') {
      this.#epoch += 1;
      this.#lease = { owner: line.owner, ttl: line.ttl, until: line.at + line.ttl };
    } else if (line.did === 'append') {
      this.#events.push(...line.events);
      for (const position of line.consumes) this.#inbox.delete(position);
      this.#prolong(line.at);
    } else if (line.did === 'post') {
      this.#inboxSeq += 1;
      this.#posted.add(line.item.key);
      this.#inbox.set(this.#inboxSeq, { ...line.item, position: this.#inboxSeq });
    } else if (line.did === 'renew') this.#prolong(line.at);
    else this.#lease = undefined;
  }

  #prolong(at: number): void {
    if (this.#lease !== undefined) this.#lease = { ...this.#lease, until: at + this.#lease.ttl };
  }

  #conflict({ seq, epoch }: Head): LedgerConflictError {
    return new LedgerConflictError({
      session: this.session,
      expected: { seq, epoch },
      found: { seq: this.#events.length, epoch: this.#epoch },
    });
  }
}
