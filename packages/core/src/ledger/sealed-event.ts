import { LedgerUnreadableError } from './errors.ts';
import type { Event } from './event.ts';

/**
 * An event as a store that encrypts hands it to the store that it stands around: the envelope as it
 * is, and everything else as one text. Stores keep it like any event. It keeps the version in which
 * it was written, because only what is inside could be made a newer one.
 */
export type SealedEvent = Pick<
  Event,
  'v' | 'seq' | 'id' | 'at' | 'type' | 'invocationId' | 'by'
> & { readonly sealed: string };

export function isSealed(event: object): event is SealedEvent {
  return typeof (event as { readonly sealed?: unknown }).sealed === 'string';
}

/**
 * To be called with what a store gives to those who fold events. The first one tells: a session is
 * sealed from its first event on or not at all.
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
