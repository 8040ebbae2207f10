import { InvalidOptionError } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import { describeValue } from '../base/options.ts';
import { replaceReferences } from '../ledger/blobs/blob.ts';
import { type Event, eventVersions } from '../ledger/event.ts';
import type { RecordedLedger } from '../ledger/recorded-ledger.ts';
import type { AnySession, Session } from '../session/session.ts';

export type { RecordedLedger };

/**
 * Returns the ledger of a session up to its last event. Its large values must have been loaded, as
 * they are after a run and by `app.sessions.open`.
 */
export function recordedLedgerOf(session: AnySession): RecordedLedger {
  const { ledger, app, id } = session as Session;
  return {
    app,
    tenant: ledger.ports.scope.tenant,
    session: id,
    events: [...ledger.events],
    blobs: ledger.blobs.all(),
  };
}

/**
 * Returns the ledger of a session, or a recorded ledger as it is.
 * @param name the name of the function that was given the source
 * @throws InvalidOptionError for a source that is neither a session nor a recorded ledger, and for
 * one with events missing
 */
export function ledgerOf(name: string, source: unknown): RecordedLedger {
  const { ledger, events, blobs, session, then } = (source ?? {}) as Record<string, unknown>;
  if (ledger !== undefined && typeof ledger === 'object')
    return recordedLedgerOf(source as AnySession);
  if (
    Array.isArray(events) &&
    typeof blobs === 'object' &&
    blobs !== null &&
    typeof session === 'string'
  ) {
    const wrong = events.findIndex((event, index) => !isEventAt(event, index + 1));
    if (wrong < 0) return source as RecordedLedger;
    const reason =
      'the events of a ledger are numbered from 1 on, without gaps, and at place ' +
      `${wrong + 1} there is none of that number that this build knows`;
    throw new InvalidOptionError({ function: name, reason });
  }
  const found = typeof then === 'function' ? 'a promise: await it first' : describeValue(source);
  throw new InvalidOptionError({
    function: name,
    reason:
      'it needs a session, or a ledger as recordedLedgerOf() and readLedgerFile() give it, ' +
      `not ${found}`,
  });
}

function isEventAt(value: unknown, place: number): value is Event {
  const { seq, id, at, type } = (value ?? {}) as Partial<Record<string, unknown>>;
  return (
    seq === place &&
    typeof id === 'string' &&
    typeof at === 'number' &&
    typeof type === 'string' &&
    Object.hasOwn(eventVersions, type)
  );
}

/** Returns a function that puts the large values of a ledger in the place of their references. */
export function resolverOf(
  blobs: Readonly<Record<string, JsonValue>>,
): (value: unknown) => unknown {
  return (value) =>
    replaceReferences(value, (reference) =>
      Object.hasOwn(blobs, reference.$blob) ? (blobs[reference.$blob] as JsonValue) : reference,
    );
}
