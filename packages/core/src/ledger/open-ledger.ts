import { mayHoldBlob } from './blobs/ledger-blobs.ts';
import { loadBlobs } from './blobs/load-blobs.ts';
import type { Event } from './event.ts';
import { Ledger } from './ledger.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import { refuseSealed } from './sealed-event.ts';

async function withAddressKey(ports: LedgerPorts): Promise<LedgerPorts> {
  return { ...ports, addressKey: await ports.store.addressKey?.() };
}

/**
 * Makes a ledger without events.
 * @throws StoreUnavailableError
 */
export async function newLedger(session: string, ports: LedgerPorts): Promise<Ledger> {
  return new Ledger(session, await withAddressKey(ports), []);
}

/**
 * Reads a whole ledger into memory.
 * @throws SessionNotFoundError, LedgerUnreadableError, StoreUnavailableError
 */
export async function openLedger(session: string, ports: LedgerPorts): Promise<Ledger> {
  const events: Event[] = [];
  for await (const page of ports.store.read(session)) {
    refuseSealed(page, session);
    for (const event of page) events.push(event);
  }
  const loaded = await loadBlobs(events.filter(mayHoldBlob), ports, session);
  const ledger = new Ledger(session, await withAddressKey(ports), [], loaded, events.length);
  await ledger.load(events);
  return ledger;
}
