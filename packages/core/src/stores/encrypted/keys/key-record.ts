import { isPlainObject } from '../../../base/json.ts';
import { authenticationCode, derivedKey } from '../cipher.ts';
import { SealBrokenError } from '../errors.ts';

/**
 * A segment of a ledger and its wrapped key: a root session, or what a fork has after its fork
 * point.
 */
export interface WrappedSegment {
  readonly id: string;
  /** The events of the segment, as far as the session has them, come after this `seq`. */
  readonly after: number;
  /**
   * Missing, with `keyId`, when the key comes from the session that was forked, or was lost with
   * it.
   */
  readonly wrapped?: string;
  readonly keyId?: string;
}

/**
 * The record of a session: the wrapped keys of all segments that it reads. They stand in the order
 * of their events, the session's own last. A deleted session takes its record along, so a segment's
 * key exists as long as a session needs it.
 */
export interface KeyRecord {
  readonly v: 1;
  /**
   * The segments of the sessions that this one descends from, and its own. The first one names the
   * family.
   */
  readonly line: readonly string[];
  readonly segments: readonly WrappedSegment[];
  /** The session that was forked, until the fork exists and has its keys. */
  readonly from?: string;
  /**
   * The entry of a fork in the session list, sealed with its own key, until the fork has written
   * one.
   */
  readonly title?: string;
  /**
   * True when the session's entry in the list is sealed whole once it has events. Missing when an
   * older version made the record and nothing was written since.
   */
  readonly sealsEntry?: true;
  /**
   * Authenticates the record without `from` and the wrapped keys, which authenticate themselves.
   */
  readonly mac: string;
}

/** The place that a record belongs to. */
export interface RecordPlace {
  readonly tenant: string;
  readonly app: string;
  readonly name: string;
}

/** @param ownKey the data key of the record's own segment */
export function recordMac(
  { tenant, app, name }: RecordPlace,
  ownKey: Uint8Array,
  record: Omit<KeyRecord, 'mac'>,
): string {
  const segments = record.segments.map(({ id, after }) => [id, after]);
  const parts = [
    tenant,
    app,
    name,
    record.v,
    record.line,
    segments,
    record.title ?? null,
    ...(record.sealsEntry === true ? ['entry'] : []),
  ];
  return authenticationCode(derivedKey(ownKey, 'record'), JSON.stringify(parts));
}

export function ownSegment(record: KeyRecord): WrappedSegment {
  return record.segments.at(-1) as WrappedSegment;
}

/** @throws SealBrokenError */
export function parseRecord(text: string, name: string): KeyRecord {
  const record = parsed(text);
  if (
    isPlainObject(record) &&
    record['v'] === 1 &&
    isTexts(record['line']) &&
    Array.isArray(record['segments']) &&
    record['segments'].length > 0
  ) {
    if (record['segments'].every(isSegment) && typeof record['mac'] === 'string')
      return record as unknown as KeyRecord;
  }
  throw new SealBrokenError({ what: `The key record "${name}"` });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isTexts(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string')
  );
}

function isSegment(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { id, after, wrapped, keyId } = value;
  return (
    typeof id === 'string' &&
    typeof after === 'number' &&
    typeof wrapped === typeof keyId &&
    (wrapped === undefined || typeof wrapped === 'string')
  );
}
