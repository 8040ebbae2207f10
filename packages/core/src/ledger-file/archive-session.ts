import { isDeepStrictEqual } from 'node:util';
import { systemIds } from '../base/id.ts';
import { assertNotReserved } from '../engine/services/errors.ts';
import { findReferences } from '../ledger/blobs/blob.ts';
import { SessionExistsError, SessionNotFoundError } from '../ledger/errors.ts';
import type { Event } from '../ledger/event.ts';
import type { Claim, LedgerStore } from '../ledger/port.ts';
import type { Runtime } from '../runtime.ts';
import { processOwner } from '../stores/owner.ts';
import { type ArchivedLedger, archiveText, parseArchive } from './archive-file.ts';
import { ArchiveRefusedError } from './errors.ts';

const leaseMs = 300_000;
const eventsPerBatch = 500;
const ended: ReadonlySet<string> = new Set(['completed', 'error']);

/** The content of an archive. */
export interface ArchiveReport {
  readonly session: string;
  readonly events: number;
  /** Number of large values. */
  readonly blobs: number;
}

/**
 * Moves a session out of the store into a file: all events and large values, as they are. It is
 * deleted only when the file is on the disk. Nothing is taken out of it: the file has all secrets
 * of the ledger, and those of an encrypted store in plain text.
 * @param path the file, which must not exist
 * @throws SessionNotFoundError, ArchiveRefusedError for a session with work to do,
 * SessionBusyError while a process works on it; what the file system says
 */
export async function archiveSession(
  app: Runtime,
  session: string,
  path: string,
): Promise<ArchiveReport> {
  assertNotReserved(session);
  const ledgers = ledgersOf(app);
  if ((await ledgers.head(session)) === undefined) throw notFound(app, session);
  // The lease keeps every other process away while the file is written.
  const claim = await ledgers.claim(session, processOwner(systemIds), { ttlMs: leaseMs });
  try {
    await assertAtRest(ledgers, session);
    const archived = await readLedger(ledgers, session);
    await writeWhole(path, archiveText(archived));
    await assertAtRest(ledgers, session);
    // Fails when the lease was lost: then somebody has gone on with the session.
    await ledgers.renew(claim);
    await app.sessions.delete(session);
    return reportOf(archived);
  } catch (error) {
    await ledgers.release(claim).catch(() => undefined);
    throw error;
  }
}

/**
 * Brings an archived session back, under its id: the same events with the same ids, and its place
 * in all lists. Called again after an interruption it goes on.
 * @throws SessionExistsError when the id is in use, InvalidLedgerFileError, LedgerFileTooNewError
 */
export async function restoreArchive(app: Runtime, path: string): Promise<ArchiveReport> {
  const { readFile } = await import('node:fs/promises');
  const archived = parseArchive(await readFile(path, 'utf8'), path);
  const { session, events, blobs } = archived;
  assertNotReserved(session);
  const ledgers = ledgersOf(app);
  const begun = await begunBefore(ledgers, archived);
  for (const [address, bytes] of blobs) await ledgers.putBlob(bytes, address);
  const claim = await ledgers.claim(session, processOwner(systemIds), { ttlMs: leaseMs });
  try {
    await appendAll(ledgers, claim, { events, begun });
  } catch (error) {
    // The next try need not wait until the lease is over.
    await ledgers.release(claim).catch(() => undefined);
    throw error;
  }
  await ledgers.release(claim);
  await app.sessions.rebuild({ session });
  return reportOf(archived);
}

function ledgersOf({ app, store, tenant }: Runtime): LedgerStore {
  return store.for({ tenant, app });
}

function notFound({ app }: Runtime, session: string): SessionNotFoundError {
  return new SessionNotFoundError({ app, session });
}

function reportOf({ session, events, blobs }: ArchivedLedger): ArchiveReport {
  return { session, events: events.length, blobs: blobs.size };
}

/** @throws ArchiveRefusedError while anything is to be done in the session */
async function assertAtRest(ledgers: LedgerStore, session: string): Promise<void> {
  const [listing] = await ledgers.list({ id: session, limit: 1 });
  if (listing === undefined || !ended.has(listing.status))
    throw new ArchiveRefusedError({
      session,
      reason: `its status is "${listing?.status ?? 'deleted'}"`,
    });
  if ((await ledgers.inbox(session)).length > 0)
    throw new ArchiveRefusedError({ session, reason: 'messages wait in its inbox' });
  const sends = await ledgers.sends({ from: session, limit: 1 });
  if (sends.length > 0)
    throw new ArchiveRefusedError({ session, reason: 'messages of it are on their way' });
}

async function readLedger(ledgers: LedgerStore, session: string): Promise<ArchivedLedger> {
  const events: Event[] = [];
  const blobs = new Map<string, Uint8Array>();
  for await (const page of ledgers.read(session)) {
    events.push(...page);
    for (const address of addressesIn(page))
      if (!blobs.has(address)) blobs.set(address, await ledgers.getBlob(address, session));
  }
  return { session, events, blobs };
}

function addressesIn(events: readonly Event[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const event of events) findReferences(event, ({ $blob }) => void found.add($blob));
  return found;
}

/** Writes a file that is all there, and on the disk, or not there at all. */
async function writeWhole(path: string, text: string): Promise<void> {
  const { link, open, rm } = await import('node:fs/promises');
  const unfinished = `${path}.${process.pid}.part`;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    // Unlike a new name, a link never replaces a file.
    await link(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/**
 * Returns the number of events that an interrupted call has written.
 * @throws SessionExistsError when the session is another one, or all there
 */
async function begunBefore(
  ledgers: LedgerStore,
  { session, events }: ArchivedLedger,
): Promise<number> {
  const head = await ledgers.head(session);
  if (head === undefined) return 0;
  if (head.seq >= events.length) throw new SessionExistsError({ session });
  for await (const page of ledgers.read(session))
    for (const event of page)
      if (!isDeepStrictEqual(event, events[event.seq - 1]))
        throw new SessionExistsError({ session });
  return head.seq;
}

async function appendAll(
  ledgers: LedgerStore,
  { epoch, session }: Claim,
  { events, begun }: { readonly events: readonly Event[]; readonly begun: number },
): Promise<void> {
  for (let seq = begun; seq < events.length; seq += eventsPerBatch) {
    const batch = events.slice(seq, seq + eventsPerBatch);
    await ledgers.append(
      session,
      { seq, epoch },
      { events: batch, blobs: [...addressesIn(batch)] },
    );
  }
}
