import { isAdjutantError } from '../base/error.ts';
import { deepFreeze, isPlainObject, type JsonValue } from '../base/json.ts';
import { LedgerUnreadableError } from './errors.ts';
import { type Event, eventVersions } from './event.ts';
import type { StoredEvent, UnreadableEvent } from './port.ts';
import { isSealed } from './sealed-event.ts';

/** The fields of a stored event, whatever its version. */
export type RawEvent = Readonly<Record<string, unknown>>;

/**
 * Turns an event of one version into the same event of the next version. `v` is raised by the
 * caller.
 */
export type Upcast = (event: RawEvent) => RawEvent;

/** By event type and version: how an event of that version becomes one of the next. */
export type UpcastTable = { readonly [type: string]: { readonly [fromVersion: number]: Upcast } };

/** Makes an event of what a store read. @throws LedgerUnreadableError */
export type EventDecoder = (raw: unknown, session: string) => Event;

/**
 * A decoder for given versions of the event types. One stored event becomes exactly one event, so
 * `seq` never moves.
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
  // Whoever opens it decodes what is inside.
  if (isSealed(event)) return event;
  let current: RawEvent = event;
  for (let from = event.v; from < version; from++) {
    const step = table[type]?.[from];
    if (step !== undefined) current = { ...step(current), v: from + 1, seq, type };
  }
  return current;
}

/**
 * How older versions of each event type are read. An entry is added, and never removed, when a
 * type's version is raised.
 */
const upcasts: UpcastTable = {
  // Version 2 says of each change of a body which kind of write it was. Without that it counts as a
  // plain value.
  state_change: { 1: (event) => event },
};

/**
 * An event as a store read it, in the present version of its type and deeply frozen.
 * @throws LedgerUnreadableError for an unknown type, a newer version, or something that is no event
 */
export const decodeEvent: EventDecoder = createUpcaster(eventVersions, upcasts);

/** Whether an event is of a type that this build knows, in the version that it writes. */
export function isCurrent({ type, v }: Event): boolean {
  return Object.hasOwn(eventVersions, type) && eventVersions[type] === v;
}

/** What `decode` gives; what it cannot read is marked instead, with what is stored there. */
export function orUnreadable(seq: number, stored: () => unknown, decode: () => Event): StoredEvent {
  try {
    return decode();
  } catch (error) {
    if (!isAdjutantError(error, 'ledger_unreadable')) throw error;
    return unreadableEvent(seq, String(error.data['reason']), stored());
  }
}

/** @param stored what is there; `undefined`: nothing */
export function unreadableEvent(seq: number, reason: string, stored: unknown): UnreadableEvent {
  return deepFreeze({
    type: 'unreadable',
    seq,
    reason,
    ...(stored === undefined ? {} : { stored: stored as JsonValue }),
  }) as UnreadableEvent;
}
