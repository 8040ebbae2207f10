import { isAdjutantError } from '../../../base/error.ts';
import { SessionExistsError } from '../../../ledger/errors.ts';
import type { LedgerStore } from '../../../ledger/port.ts';
import { SealBrokenError, SegmentKeyMissingError } from '../errors.ts';
import type { DataKeys } from './data-keys.ts';
import type { KeyCache } from './key-cache.ts';
import { type KeyRecord, ownSegment, recordMac, type WrappedSegment } from './key-record.ts';
import type { KeyRecords } from './key-records.ts';
import { SessionKeys, segmentWith } from './session-keys.ts';

export interface KeyRingParts {
  readonly scope: { readonly tenant: string; readonly app: string };
  /** The ledgers that the keys belong to. */
  readonly ledgers: LedgerStore;
  readonly records: KeyRecords;
  readonly dataKeys: DataKeys;
  readonly cache: KeyCache;
}

/** Keys for a session that a post makes. */
export interface OpeningKeys {
  readonly keys: SessionKeys;
  readonly record: KeyRecord;
  /** True when they were made now. */
  readonly isNew: boolean;
}

/** Name of the record of the app's key, which seals shared state and blobs. */
const appRecord = 'app';

export function recordName(session: string): string {
  return `session:${session}`;
}

function sessionOf(name: string): string {
  return name.slice(recordName('').length);
}

/** The keys of the sessions of one tenant and app: makes, finds and destroys them. */
export class KeyRing {
  readonly #parts: KeyRingParts;

  constructor(parts: KeyRingParts) {
    this.#parts = parts;
  }

  /** Returns the keys of a session, from memory if possible; `undefined` when it has none. */
  find(session: string): Promise<SessionKeys | undefined> {
    const name = recordName(session);
    return this.#parts.cache.get(this.#cacheName(name)) ?? this.#load(name);
  }

  /**
   * Finds keys without the memory of this process. Another process may have deleted the session and
   * made another of its name.
   */
  findAnew(session: string): Promise<SessionKeys | undefined> {
    return this.#load(recordName(session));
  }

  /** Forgets the keys of a session that may be another one now. */
  forget(session: string): void {
    this.#parts.cache.delete(this.#cacheName(recordName(session)));
  }

  /**
   * Returns the keys of a session that is written to, and makes them when it has no event yet.
   * `undefined` when the session does not exist.
   * @throws SegmentKeyMissingError
   */
  async forWriting(session: string): Promise<SessionKeys | undefined> {
    const name = this.#cacheName(recordName(session));
    const known = this.#parts.cache.get(name);
    return (known && (await known)) ?? this.#remembered(name, () => this.forWritingAnew(session));
  }

  /**
   * Returns keys as `forWriting` does, without the memory of this process: for callers that do not
   * own the session.
   */
  async forWritingAnew(session: string): Promise<SessionKeys | undefined> {
    const { ledgers, scope } = this.#parts;
    const head = await ledgers.head(session);
    if (head === undefined) return undefined;
    if (head.seq === 0) return this.#make(recordName(session));
    const keys = await this.#read(recordName(session));
    if (keys !== undefined) return keys;
    if ((await ledgers.head(session)) === undefined) return undefined;
    throw new SegmentKeyMissingError({ session, app: scope.app });
  }

  /**
   * Makes keys of a session that a post is about to make. Of several posts, one makes the keys that
   * count.
   */
  async forOpening(session: string): Promise<OpeningKeys> {
    const made = await this.#makeRecord(recordName(session));
    return { ...made, keys: await this.#open(recordName(session), made.record) };
  }

  /**
   * Keeps the keys of a session that a post has made. A post of the same session that was refused
   * may have removed them meanwhile.
   * @throws SegmentKeyMissingError when another post has made other keys
   */
  async keepOpened(session: string, { keys, record }: OpeningKeys): Promise<void> {
    const { records, ledgers, scope } = this.#parts;
    const name = recordName(session);
    let kept = await records.read(name);
    if (kept === undefined && (await ledgers.head(session)) !== undefined)
      kept = await records.change(name, async (found) =>
        found === undefined ? record : undefined,
      );
    if (kept !== undefined && ownSegment(kept).id !== keys.own.id)
      throw new SegmentKeyMissingError({ session, app: scope.app });
  }

  /** Removes keys that a post has made for nothing: it was refused. */
  async dropOpening(session: string, { isNew }: OpeningKeys): Promise<void> {
    if (isNew) await this.destroyIfGone(recordName(session));
  }

  async ofApp(): Promise<SessionKeys> {
    const name = this.#cacheName(appRecord);
    const keys =
      this.#parts.cache.get(name) ??
      this.#remembered(name, async () => (await this.#read(appRecord)) ?? this.#make(appRecord));
    return (await keys) as SessionKeys;
  }

  /**
   * Prepares the record of a fork: its own key, and the list of keys that it needs of the forked
   * session. `adopt` copies those when the fork exists: a fork that is never made must not keep
   * keys of a deleted session.
   * @param sealEntry seals the first entry of the fork in the session list
   * @throws SessionExistsError
   */
  async prepareFork(
    session: string,
    parent: SessionKeys,
    fork: { atSeq: number; session: string; sealEntry: SealEntry },
  ): Promise<SessionKeys> {
    const name = recordName(fork.session);
    const { segment, key } = await this.#parts.dataKeys.make(fork.atSeq);
    const own = segmentWith(segment.id, fork.atSeq, key);
    const inherited = parent.segments.filter(({ after }) => after < fork.atSeq);
    const hangsOn = inherited.at(-1) ?? parent.segments[0];
    const line = [...parent.line.slice(0, parent.line.indexOf(hangsOn?.id ?? '') + 1), own.id];
    const keys = new SessionKeys(line, [...inherited, own], { sealsEntry: true });
    const title = fork.sealEntry(keys);
    const segments = [...inherited.map(({ id, after }) => ({ id, after })), segment];
    const record = { v: 1, line, segments, from: session, title, sealsEntry: true } as const;
    await this.#parts.records.change(name, async () => {
      // Read under the claim: another process that makes the session now claims the record too.
      if ((await this.#parts.ledgers.head(fork.session)) !== undefined)
        throw new SessionExistsError({ session: fork.session });
      return { ...record, mac: recordMac(this.#place(name), key, record) };
    });
    return keys;
  }

  /** Copies to a fork the keys that it needs of its origin. Returns true when it has keys. */
  async adopt(session: string): Promise<boolean> {
    const record = await this.#adopt(recordName(session));
    this.forget(session);
    return record !== undefined;
  }

  /**
   * Records that the entry of a session is sealed whole for the first time. From then on it must
   * be.
   */
  async entrySealed(session: string, { own }: SessionKeys): Promise<void> {
    const name = recordName(session);
    await this.#parts.records.change(name, async (found) => {
      if (
        found === undefined ||
        own.key === undefined ||
        found.sealsEntry === true ||
        ownSegment(found).id !== own.id
      )
        return undefined;
      const sealed = { ...found, sealsEntry: true } as const;
      return { ...sealed, mac: recordMac(this.#place(name), own.key, sealed) };
    });
    this.forget(session);
  }

  /** Destroys the keys of a session that no other session needs. */
  async destroy(session: string): Promise<void> {
    this.forget(session);
    await this.#parts.records.remove(recordName(session));
    this.forget(session);
  }

  /**
   * Returns the session and all that descend from it or its ancestors, as far as they have keys;
   * for `destroyGone`.
   */
  async relativesOf(session: string): Promise<readonly string[]> {
    const first = await this.#firstOfLine(recordName(session));
    if (first === undefined) return [];
    const relatives = [session];
    for await (const name of this.#parts.records.family(first)) {
      if (name !== recordName(session)) relatives.push(sessionOf(name));
    }
    return relatives;
  }

  /** Returns the first segment of a record, which names its family. */
  async #firstOfLine(name: string): Promise<string | undefined> {
    try {
      return (await this.#parts.records.read(name))?.line[0];
    } catch (error) {
      // A record that cannot be read does not keep its session from being deleted.
      if (isAdjutantError(error, 'seal_broken')) return '';
      throw error;
    }
  }

  /** Destroys the keys of those sessions that do not exist any more. */
  async destroyGone(sessions: readonly string[]): Promise<void> {
    for (const session of sessions) await this.destroyIfGone(recordName(session));
  }

  /** Destroys a record whose session is gone. Returns true when it was. */
  async destroyIfGone(name: string): Promise<boolean> {
    if (name === appRecord) return false;
    const session = sessionOf(name);
    if ((await this.#parts.ledgers.head(session)) !== undefined) return false;
    await this.destroy(session);
    return true;
  }

  #load(name: string): Promise<SessionKeys | undefined> {
    return this.#remembered(this.#cacheName(name), () => this.#read(name));
  }

  /** Loads keys once for all callers that need them now and later. */
  #remembered(
    cacheName: string,
    find: () => Promise<SessionKeys | undefined>,
  ): Promise<SessionKeys | undefined> {
    const finding = find();
    this.#parts.cache.set(cacheName, finding);
    return finding;
  }

  async #read(name: string): Promise<SessionKeys | undefined> {
    const record = await this.#parts.records.read(name);
    const whole = record?.from === undefined ? record : await this.#adopt(name);
    return whole && this.#open(name, whole);
  }

  /**
   * Makes keys of a session without events, under a claim. Of several writers, one makes the keys
   * that count.
   */
  async #make(name: string): Promise<SessionKeys> {
    const { record } = await this.#makeRecord(name);
    return this.#open(name, record);
  }

  async #makeRecord(
    name: string,
  ): Promise<{ readonly record: KeyRecord; readonly isNew: boolean }> {
    let isNew = false;
    const record = await this.#parts.records.change(name, async (found) => {
      isNew = false;
      // The record of a fork that was never made, or is gone, does not belong to an empty session.
      if (found !== undefined && ownSegment(found).after === 0) return undefined;
      const { segment, key } = await this.#parts.dataKeys.make(0);
      const made = {
        v: 1,
        line: [segment.id],
        segments: [segment],
        ...(name === appRecord ? {} : ({ sealsEntry: true } as const)),
      } as const;
      isNew = true;
      return { ...made, mac: recordMac(this.#place(name), key, made) };
    });
    const whole = record?.from === undefined ? record : await this.#adopt(name);
    return { record: whole as KeyRecord, isNew };
  }

  async #adopt(name: string): Promise<KeyRecord | undefined> {
    const { records, dataKeys } = this.#parts;
    return records.change(name, async (found) => {
      if (found?.from === undefined) return undefined;
      const { from, ...rest } = found;
      const source = new Map(
        (await records.read(recordName(from)))?.segments.map((segment) => [segment.id, segment]),
      );
      const current = await dataKeys.currentKeyId();
      const withKey = async (segment: WrappedSegment): Promise<WrappedSegment> => {
        const { keyId, wrapped } = source.get(segment.id) ?? {};
        if (segment.wrapped !== undefined || wrapped === undefined || keyId === undefined)
          return segment;
        const copy = { ...segment, keyId, wrapped };
        // A rotation may have changed the fork and not yet its origin.
        return keyId === current ? copy : dataKeys.rewrap(copy);
      };
      return { ...rest, segments: await Promise.all(found.segments.map(withKey)) };
    });
  }

  /** @throws SealBrokenError, KeyUnavailableError */
  async #open(name: string, record: KeyRecord): Promise<SessionKeys> {
    const opened = record.segments.map(async (segment) =>
      segmentWith(segment.id, segment.after, await this.#parts.dataKeys.unwrap(segment)),
    );
    const keys = new SessionKeys(record.line, await Promise.all(opened), record);
    if (
      keys.own.key !== undefined &&
      recordMac(this.#place(name), keys.own.key, record) === record.mac
    )
      return keys;
    throw new SealBrokenError({ what: `The key record "${name}"` });
  }

  #place(name: string): { readonly tenant: string; readonly app: string; readonly name: string } {
    return { ...this.#parts.scope, name };
  }

  #cacheName(name: string): string {
    return JSON.stringify([this.#parts.scope.tenant, this.#parts.scope.app, name]);
  }
}

export type SealEntry = (keys: SessionKeys) => string;
