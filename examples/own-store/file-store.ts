/**
 * A store of one's own: a directory with a file of JSON lines for each session. It has what every
 * store must have, head, events, ownership and inbox, and leaves the rest out. One process at a
 * time may use a directory.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AdjutantError, type Event, isAdjutantError, type Store, type StoredEvent } from 'adjutant';
import { SessionBusyError, SessionNotFoundError, StoreUnavailableError } from 'adjutant/errors';
import { type Clock, systemClock } from 'adjutant/ports';
import {
  type AppendReceipt,
  type Batch,
  decodeEvent,
  type Head,
  isOwnerGone,
  type LedgerHead,
  type LedgerStore,
  type ReadRange,
} from 'adjutant/store';
import { LedgerFile } from './ledger-file.ts';

/** Parts that the store leaves out, as the contract is told. */
const notYet = 'a file for each session has no room for it';
export const leftOut = {
  'shared scopes': notYet,
  forks: notYet,
  blobs: notYet,
  requests: notYet,
  due: notYet,
  turns: notYet,
  sends: notYet,
  rows: notYet,
  'replacement of rows': notYet,
  deletion: notYet,
  listing: notYet,
  snapshots: 'the events are in memory anyway',
};

/**
 * Parts that are left out are refused and not ignored, so that no app believes that it was kept.
 */
function refuse(what: string): never {
  throw new AdjutantError('not_supported', `A file store cannot ${what}. Use another store.`, {
    store: 'files',
  });
}

/** @throws AdjutantError with `not_supported` for what lies beside a session */
function refuseBeside({ rows, sends, turn }: Pick<Batch, 'rows' | 'sends' | 'turn'>): void {
  if (turn !== undefined) refuse('keep turns');
  if (rows !== undefined) refuse('keep listed rows');
  if (sends !== undefined) refuse('keep messages to other sessions');
}

export function fileStore(
  directory: string,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Store {
  mkdirSync(directory, { recursive: true });
  const open = new Map<string, FileLedgers>();
  let isClosed = false;
  return {
    description: directory,
    for({ tenant, app }) {
      const name = JSON.stringify([tenant, app]);
      const found = open.get(name) ?? new FileLedgers({ directory, name, app, clock });
      open.set(name, found);
      if (isClosed) found.close();
      return found;
    },
    admin: {
      due: async () => refuse('tell what is due'),
      take: async () => refuse('keep turns'),
      sends: async () => refuse('keep messages to other sessions'),
      replaceRows: async () => refuse('replace rows'),
      sweepBlobs: async () => 0,
    },
    async close() {
      isClosed = true;
      for (const ledgers of open.values()) ledgers.close();
    },
  };
}

interface Place {
  readonly directory: string;
  /** Of tenant and app. */
  readonly name: string;
  readonly app: string;
  readonly clock: Clock;
}

class FileLedgers implements LedgerStore {
  readonly #place: Place;
  readonly #files = new Map<string, LedgerFile>();
  /** Called when something has landed, or the store was closed. */
  readonly #listeners = new Set<() => void>();
  #isClosed = false;
  #lastNow = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  async append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    const { shared = [], blobs = [], requests = [], settles = [], events } = batch;
    refuseBeside(batch);
    if (shared.length > 0) refuse('keep shared scopes');
    if (blobs.length > 0) refuse('keep values of more than 64 KB');
    if (requests.length + settles.length > 0) refuse('keep requests');
    if (!(expected.epoch >= 1))
      throw new RangeError(
        `Session "${session}" must be claimed before something is appended to it.`,
      );
    const misplaced = events.find(({ seq }, i) => seq !== expected.seq + i + 1);
    if (misplaced !== undefined)
      throw new RangeError(`The event ${misplaced.seq} does not follow ${expected.seq}.`);
    const receipt = this.#file(session).append(expected, batch, this.#now());
    for (const listener of this.#listeners) listener();
    return receipt;
  }

  async *read(session: string, range: ReadRange = {}): AsyncGenerator<readonly Event[]> {
    // Event by event: those before one that cannot be read can be.
    for (const event of this.#stretch(session, range)) yield [decodeEvent(event, session)];
  }

  async *readStored(
    session: string,
    range: ReadRange = {},
  ): AsyncGenerator<readonly StoredEvent[]> {
    for (const event of this.#stretch(session, range)) yield [storedEvent(event, session)];
  }

  #stretch(
    session: string,
    { after = 0, upTo = Number.POSITIVE_INFINITY }: ReadRange,
  ): readonly Event[] {
    return this.#existing(session).events.filter(({ seq }) => seq > after && seq <= upTo);
  }

  async now(): Promise<number> {
    return this.#now();
  }

  /**
   * The time, which never falls: when the clock went back, it stands until the clock is there
   * again.
   */
  #now(): number {
    this.#lastNow = Math.max(this.#lastNow, this.#place.clock.now());
    return this.#lastNow;
  }

  async head(session: string): Promise<LedgerHead | undefined> {
    const file = this.#file(session);
    return file.exists ? file.head : undefined;
  }

  /** A session is never deleted, so that its file stays its own. */
  async birth(session: string): Promise<string | undefined> {
    const file = this.#file(session);
    return file.exists ? file.name : undefined;
  }

  async claim(
    session: string,
    owner: string,
    { ttlMs, force = false }: Parameters<LedgerStore['claim']>[2],
  ): ReturnType<LedgerStore['claim']> {
    const file = this.#file(session);
    const now = this.#now();
    const { lease } = file;
    const isHeld =
      lease !== undefined &&
      lease.owner !== owner &&
      lease.until > now &&
      !isOwnerGone(lease.owner);
    if (isHeld && !force)
      throw new SessionBusyError({ session, owner: lease.owner, until: lease.until });
    return file.claim(owner, ttlMs, now);
  }

  async renew(claim: Parameters<LedgerStore['renew']>[0]): Promise<AppendReceipt> {
    return this.#file(claim.session).renew(claim, this.#now());
  }

  async release(
    claim: Parameters<LedgerStore['release']>[0],
    options: Parameters<LedgerStore['release']>[1] = {},
  ): ReturnType<LedgerStore['release']> {
    if (options.turn !== undefined) refuse('keep turns');
    return { ...this.#file(claim.session).release(claim, options.inboxSeq), now: this.#now() };
  }

  async post(
    session: string,
    item: Parameters<LedgerStore['post']>[1],
    options: Parameters<LedgerStore['post']>[2] = {},
  ): ReturnType<LedgerStore['post']> {
    if (item.settles !== undefined) refuse('keep requests');
    if (options.birth !== undefined || options.open !== undefined)
      refuse('take messages of other sessions');
    if (options.admit !== undefined) refuse('keep turns');
    refuseBeside(options);
    return { ...this.#existing(session).post(item), now: this.#now() };
  }

  async inbox(session: string): ReturnType<LedgerStore['inbox']> {
    return this.#existing(session).inbox;
  }

  async *follow(session: string, afterSeq: number, signal: AbortSignal): AsyncGenerator<Event> {
    let last = afterSeq;
    while (!signal.aborted) {
      for (const event of this.#stretch(session, { after: last })) {
        if (signal.aborted) return;
        last = event.seq;
        yield decodeEvent(event, session);
      }
      if (this.#existing(session).head.seq <= last && !signal.aborted) await this.#change(signal);
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#listeners.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#listeners.add(end);
      signal.addEventListener('abort', end);
    });
  }

  async putSnapshot(): Promise<void> {
    // A snapshot only saves time.
  }

  async getSnapshot(): Promise<undefined> {
    return undefined;
  }

  fork = async (): Promise<never> => refuse('fork sessions');
  putBlob = async (): Promise<never> => refuse('keep values of more than 64 KB');
  getBlob = async (): Promise<never> => refuse('keep values of more than 64 KB');
  readShared = async (): Promise<never> => refuse('keep shared scopes');
  list = async (): Promise<never> => refuse('list sessions');
  requests = async (): Promise<never> => refuse('keep requests');
  settle = async (): Promise<never> => refuse('keep requests');
  turn = async (): Promise<never> => refuse('keep turns');
  turns = async (): Promise<never> => refuse('keep turns');
  explainTurn = async (): Promise<never> => refuse('keep turns');
  rows = async (): Promise<never> => refuse('keep listed rows');
  sends = async (): Promise<never> => refuse('keep messages to other sessions');
  sent = async (): Promise<never> => refuse('keep messages to other sessions');
  due = async (): Promise<never> => refuse('tell what is due');
  delete = async (): Promise<never> => refuse('delete sessions');

  close(): void {
    this.#isClosed = true;
    for (const file of this.#files.values()) file.close();
    for (const listener of this.#listeners) listener();
  }

  /** Names come from outside: the file is named after their hash. @throws StoreUnavailableError */
  #file(session: string): LedgerFile {
    const { directory, name } = this.#place;
    if (this.#isClosed)
      throw new StoreUnavailableError({
        store: directory,
        reason: 'it has been closed',
        permanent: true,
      });
    const found = this.#files.get(session);
    if (found !== undefined) return found;
    const hash = createHash('sha256').update(`${name}\n${session}`).digest('hex');
    const made = new LedgerFile(join(directory, `${hash}.jsonl`), session);
    this.#files.set(session, made);
    return made;
  }

  /** @throws SessionNotFoundError */
  #existing(session: string): LedgerFile {
    const file = this.#file(session);
    if (!file.exists) throw new SessionNotFoundError({ session, app: this.#place.app });
    return file;
  }
}

function storedEvent(event: Event, session: string): StoredEvent {
  try {
    return decodeEvent(event, session);
  } catch (error) {
    if (!isAdjutantError(error, 'ledger_unreadable')) throw error;
    return {
      type: 'unreadable',
      seq: event.seq,
      reason: String(error.data['reason']),
      stored: JSON.parse(JSON.stringify(event)),
    };
  }
}
