import { defined } from '../base/defined.ts';
import { isAdjutantError } from '../base/error.ts';
import { deepFreeze, isPlainObject, type JsonValue } from '../base/json.ts';
import { LedgerUnreadableError } from './errors.ts';
import { type Event, eventVersions } from './event.ts';
import type { StoredEvent, UnreadableEvent } from './port.ts';
import { isSealed } from './sealed-event.ts';

/** Fields of a stored event of any version. */
export type RawEvent = Readonly<Record<string, unknown>>;

/** Turns an event of one version into the same event of the next version. The caller raises `v`. */
export type Upcast = (event: RawEvent) => RawEvent;

/** Upcasts by event type and version. Each makes an event of the next version. */
export type UpcastTable = { readonly [type: string]: { readonly [fromVersion: number]: Upcast } };

/**
 * Makes an event of stored data.
 * @throws LedgerUnreadableError
 */
export type EventDecoder = (raw: unknown, session: string) => Event;

/**
 * Makes a decoder for given versions of the event types. One stored event becomes exactly one
 * event, so `seq` never moves.
 * @throws RangeError when the table has no way from an older version to the present one
 */
export function createUpcaster(
  versions: { readonly [type: string]: number },
  table: UpcastTable,
): EventDecoder {
  const known = new Map(Object.entries(versions));
  for (const [type, version] of known) {
    for (let from = 1; from < version; from++) {
      if (table[type]?.[from] === undefined)
        throw new RangeError(
          `There is no upcast of event type "${type}" from version ${from} to ${from + 1}.`,
        );
    }
  }
  return (raw, session) => {
    const event = checkEnvelope(raw, session);
    const version = known.get(event.type);
    if (version === event.v) return deepFreeze(event) as unknown as Event;
    return deepFreeze(upcast(event, version, table, session)) as unknown as Event;
  };
}

interface RawEnvelope extends RawEvent {
  readonly v: number;
  readonly seq: number;
  readonly type: string;
}

function checkEnvelope(raw: unknown, session: string): RawEnvelope {
  if (!isPlainObject(raw))
    throw new LedgerUnreadableError({ session, seq: 0, reason: 'it is not an object' });
  const { v, seq, type } = raw;
  if (typeof seq !== 'number')
    throw new LedgerUnreadableError({ session, seq: 0, reason: 'it has no seq' });
  if (typeof type !== 'string')
    throw new LedgerUnreadableError({ session, seq, reason: 'it has no type' });
  if (typeof v !== 'number' || !Number.isInteger(v) || v < 1)
    throw new LedgerUnreadableError({ session, seq, reason: 'it has no version' });
  return raw as RawEnvelope;
}

function upcast(
  event: RawEnvelope,
  version: number | undefined,
  table: UpcastTable,
  session: string,
): RawEvent {
  const { seq, type } = event;
  if (version === undefined)
    throw new LedgerUnreadableError({
      session,
      seq,
      reason: `its type "${type}" is not known to this version of Adjutant`,
    });
  if (event.v > version) {
    const reason =
      `it has version ${event.v} of type "${type}", and this version of Adjutant knows ` +
      `versions up to ${version}`;
    throw new LedgerUnreadableError({ session, seq, reason });
  }
  // The store that opens it decodes its contents.
  if (isSealed(event)) return event;
  let current: RawEvent = event;
  for (let from = event.v; from < version; from++) {
    const step = table[type]?.[from];
    if (step !== undefined) current = { ...step(current), v: from + 1, seq, type };
  }
  return current;
}

/**
 * Upcasts of older versions of each event type. An entry is added, and never removed, when the
 * version of a type is raised.
 */
const upcasts: UpcastTable = {
  // Version 2 has the kind of write for each change of a body. A change without it is a plain
  // value.
  state_change: { 1: (event) => event },
};

/**
 * Decodes a stored event into the present version of its type, deeply frozen.
 * @throws LedgerUnreadableError for an unknown type, a newer version, or data that is no event
 */
export const decodeEvent: EventDecoder = createUpcaster(eventVersions, upcasts);

/** Checks that an event is of a known type, in the version that this build writes. */
export function isCurrent({ type, v }: Event): boolean {
  return Object.hasOwn(eventVersions, type) && eventVersions[type] === v;
}

/**
 * Returns the result of `decode`. An event that it cannot read becomes a marker with the stored
 * data.
 */
export function orUnreadable(seq: number, stored: () => unknown, decode: () => Event): StoredEvent {
  try {
    return decode();
  } catch (error) {
    if (!isAdjutantError(error, 'ledger_unreadable')) throw error;
    return unreadableEvent(seq, String(error.data['reason']), stored());
  }
}

/** @param stored stored data; `undefined` when there is none */
export function unreadableEvent(seq: number, reason: string, stored: unknown): UnreadableEvent {
  return deepFreeze({
    type: 'unreadable',
    seq,
    reason,
    ...defined({ stored: stored as JsonValue | undefined }),
  }) as UnreadableEvent;
}
