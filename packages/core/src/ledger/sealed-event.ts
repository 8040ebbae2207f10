import { LedgerUnreadableError } from './errors.ts';
import type { Event } from './event.ts';

/**
 * An event of an encrypting store, as the store inside it gets it: a plain envelope, and all other
 * members as one text. Stores keep it like any event. It keeps the version in which it was written,
 * because only its sealed contents could be upcast.
 */
export type SealedEvent = Pick<
  Event,
  'v' | 'seq' | 'id' | 'at' | 'type' | 'invocationId' | 'by'
> & { readonly sealed: string };

export function isSealed(event: object): event is SealedEvent {
  return typeof (event as { readonly sealed?: unknown }).sealed === 'string';
}

/**
 * Refuses sealed events before they are folded. The first event tells: a session is sealed from its
 * first event on, or not at all.
 * @throws LedgerUnreadableError
 */
export function refuseSealed(events: readonly Event[], session: string): void {
  const [first] = events;
  if (first === undefined || !isSealed(first)) return;
  const reason =
    'it is encrypted, and the store was opened without its keys; open it as ' +
    '`encrypted(store, { keys })` of adjutant/encryption';
  throw new LedgerUnreadableError({ session, seq: first.seq, reason });
}
