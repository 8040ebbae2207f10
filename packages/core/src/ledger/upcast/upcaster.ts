import { deepFreeze, isPlainObject } from '../../base/json.ts';
import { LedgerUnreadableError } from '../errors.ts';
import type { Event } from '../event.ts';
import { isSealed } from '../sealed-event.ts';

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
