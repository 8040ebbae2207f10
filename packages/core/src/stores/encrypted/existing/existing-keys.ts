import { SegmentKeyMissingError } from '../errors.ts';
import { ownSegment, recordMac, type WrappedSegment } from '../keys/key-record.ts';
import { type KeyRing, type KeyRingParts, recordName } from '../keys/key-ring.ts';
import { SessionKeys, segmentWith } from '../keys/session-keys.ts';
import { lineOf, type StoredLedger } from './stored-ledgers.ts';

export interface KeyedScope extends KeyRingParts {
  readonly ring: KeyRing;
}

/** Makes the keys of ledgers of one tenant and app that were written without encryption. */
export class ExistingKeys {
  readonly #parts: KeyedScope;
  /** The wrapped keys of ledgers, by their numbers. */
  readonly #segments = new Map<number, WrappedSegment>();

  constructor(parts: KeyedScope) {
    this.#parts = parts;
  }

  /**
   * Returns the keys of each ledger. Those that a session has already stay, so an encryption that
   * was stopped is gone on with.
   * @param ledgers all ledgers of the tenant and app, those that were forked before their forks
   */
  async of(ledgers: readonly StoredLedger[]): Promise<ReadonlyMap<number, SessionKeys>> {
    await this.#parts.ring.ofApp();
    const byId = new Map(ledgers.map((ledger) => [ledger.id, ledger]));
    for (const ledger of ledgers) await this.#findSegments(ledger, byId);
    const keys = new Map<number, SessionKeys>();
    for (const ledger of ledgers) keys.set(ledger.id, await this.#keysOf(ledger, byId));
    return keys;
  }

  /** Notes the keys that a session has of itself and of deleted ledgers that it shares. */
  async #findSegments(
    ledger: StoredLedger,
    ledgers: ReadonlyMap<number, StoredLedger>,
  ): Promise<void> {
    const { ring, records } = this.#parts;
    const { id, session } = ledger;
    if (session === undefined || (await ring.findAnew(session)) === undefined) return;
    const record = await records.read(recordName(session));
    if (record === undefined) return;
    this.#segments.set(id, ownSegment(record));
    const line = lineOf(ledger, ledgers);
    if (line.length !== record.segments.length) return;
    line.forEach(({ id: shared }, i) => {
      const segment = record.segments[i];
      if (segment !== undefined && !this.#segments.has(shared)) this.#segments.set(shared, segment);
    });
  }

  async #keysOf(
    ledger: StoredLedger,
    ledgers: ReadonlyMap<number, StoredLedger>,
  ): Promise<SessionKeys> {
    const { session, base } = ledger;
    const { dataKeys } = this.#parts;
    if (session !== undefined) return this.#keysOfSession(session, ledger, ledgers);
    // Only forks have the key of what a deleted session left to them.
    const segment = this.#segments.get(ledger.id) ?? (await dataKeys.make(base)).segment;
    this.#segments.set(ledger.id, segment);
    const own = segmentWith(segment.id, base, await dataKeys.unwrap(segment));
    return new SessionKeys([own.id], [own], {});
  }

  async #keysOfSession(
    session: string,
    ledger: StoredLedger,
    ledgers: ReadonlyMap<number, StoredLedger>,
  ): Promise<SessionKeys> {
    const { records, dataKeys, ring, scope } = this.#parts;
    const name = recordName(session);
    const shared = lineOf(ledger, ledgers)
      .slice(0, -1)
      .map(({ id, base }) => ({ ...(this.#segments.get(id) as WrappedSegment), after: base }));
    const record = await records.change(name, async (found) => {
      if (found !== undefined) return undefined;
      const { segment, key } = await dataKeys.make(ledger.base);
      const segments = [...shared, segment];
      const line = segments.map(({ id }) => id);
      const made = { v: 1, line, segments, sealsEntry: true } as const;
      return { ...made, mac: recordMac({ ...scope, name }, key, made) };
    });
    const keys = await ring.findAnew(session);
    if (record === undefined || keys === undefined)
      throw new SegmentKeyMissingError({ session, app: scope.app });
    this.#segments.set(ledger.id, ownSegment(record));
    return keys;
  }
}
