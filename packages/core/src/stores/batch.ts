import { StateConflictError } from '../ledger/errors.ts';
import type { Event } from '../ledger/event.ts';
import type { Head, SharedValue, SharedWrite } from '../ledger/port.ts';

/**
 * Checks a batch without the ledger: the writer holds a claim, and the events are numbered from the
 * head on.
 * @throws RangeError
 */
export function checkBatch(session: string, expected: Head, events: readonly Event[]): void {
  if (!(expected.epoch >= 1))
    throw new RangeError(
      `Session "${session}" must be claimed before something is appended to it.`,
    );
  checkNumbers(session, expected.seq, events);
}

/** @throws RangeError unless the events are numbered from the one after `after` on */
export function checkNumbers(session: string, after: number, events: readonly Event[]): void {
  let seq = after;
  for (const event of events) {
    seq += 1;
    if (event.seq !== seq)
      throw new RangeError(
        `An event of type "${event.type}" for session "${session}" has seq ${event.seq} ` +
          `where ${seq} must come.`,
      );
  }
}

/**
 * Checks writes to shared state before any is made.
 * @param find returns the value that the store holds under a key
 * @throws StateConflictError
 */
export function checkSharedWrites(
  writes: readonly SharedWrite[],
  find: (write: SharedWrite) => SharedValue | undefined,
): void {
  const current = new Map<string, SharedValue | undefined>();
  const stale = writes.filter((write) => {
    const name = JSON.stringify([write.scope, write.scopeId, write.key]);
    const found = current.has(name) ? current.get(name) : find(write);
    current.set(name, { value: write.value, version: (found?.version ?? 0) + 1 });
    return (found?.value === undefined ? 0 : found.version) !== write.baseVersion;
  });
  const first = stale[0];
  if (first === undefined) return;
  const keys = stale
    .filter((write) => write.scope === first.scope && write.scopeId === first.scopeId)
    .map((write) => write.key);
  throw new StateConflictError({
    scope: first.scope,
    scopeId: first.scopeId,
    keys: [...new Set(keys)],
  });
}

/** @throws RangeError */
export function checkForkPoint(session: string, atSeq: number, lastSeq: number): void {
  if (Number.isSafeInteger(atSeq) && atSeq >= 0 && atSeq <= lastSeq) return;
  throw new RangeError(
    `Session "${session}" cannot be forked at ${atSeq}: its events are numbered from 1 to ` +
      `${lastSeq}.`,
  );
}

const defaultLimit = 100;

/**
 * @param what name of the listed items, for the message
 * @throws RangeError
 */
export function checkLimit(what: string, limit: number = defaultLimit): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new RangeError(
    `The number of ${what} to list must be a whole number from 1 on, not ${limit}.`,
  );
}

/** @throws RangeError */
export function checkSnapshot(session: string, seq: number, lastSeq: number): void {
  if (Number.isSafeInteger(seq) && seq >= 0 && seq <= lastSeq) return;
  throw new RangeError(
    `A snapshot of session "${session}" cannot stand at ${seq}: its events are numbered ` +
      `from 1 to ${lastSeq}.`,
  );
}

const hours = 3_600_000;

/**
 * Returns the milliseconds after its last put from which a blob may be removed.
 * @throws RangeError
 */
export function checkBlobAge(olderThanMs: number = 24 * hours): number {
  if (olderThanMs >= 0) return olderThanMs;
  throw new RangeError(
    'The age from which blobs are removed must be a number of milliseconds from 0 on, not ' +
      `${olderThanMs}.`,
  );
}
