import { fieldsPerEvent } from './encoding.ts';
import type { Operation, Request, WriteOperations, WriteRequest } from './protocol.ts';

/** Most rows of a group: other processes wait for the lock. */
const mostRowsPerGroup = 512;

const writeOperations: { readonly [Name in keyof WriteOperations]: true } = {
  append: true,
  claim: true,
  renew: true,
  release: true,
  post: true,
  take: true,
  explainTurn: true,
  replaceRows: true,
  sent: true,
  settle: true,
  fork: true,
  keepAddressKey: true,
  putBlob: true,
  sweepBlobs: true,
  putSnapshot: true,
  delete: true,
  purge: true,
  tryRoom: true,
};

/** Operations that may change as many rows as a group holds. */
const largeOperations: ReadonlySet<Operation> = new Set<Operation>([
  'delete',
  'purge',
  'sweepBlobs',
  'tryRoom',
]);

/** Rows of a turn, its flow, its session and their indexes. */
const rowsPerTurn = 8;

export function isWrite(request: Request): request is WriteRequest {
  return Object.hasOwn(writeOperations, request[0]);
}

/** Returns the approximate number of rows that a request writes. */
export function rowsOf(request: WriteRequest): number {
  if (largeOperations.has(request[0])) return mostRowsPerGroup;
  if (request[0] === 'fork') return 1 + request[1].fields.length / fieldsPerEvent;
  if (request[0] === 'take') return rowsPerTurn * (1 + request[1].options.slots);
  if (request[0] === 'post') return request[1].options.turn === undefined ? 1 : rowsPerTurn;
  if (request[0] !== 'append') return 1;
  const { fields, consumes, blobs, shared, requests, settles, sends, rows } = request[1];
  const lists = [consumes, blobs, shared, requests, settles, sends, rows];
  const others = lists.reduce((count, list) => count + (list?.length ?? 0), 0);
  // The row of the ledger is written too.
  return 1 + fields.length / fieldsPerEvent + others;
}

/**
 * Returns the writes from `start` on that may share a transaction: at least one, and no more rows
 * than a group holds unless one alone has more.
 */
export function nextGroup(requests: readonly Request[], start: number): readonly WriteRequest[] {
  const group: WriteRequest[] = [];
  let rows = 0;
  for (let i = start; i < requests.length; i++) {
    const request = requests[i] as Request;
    if (!isWrite(request)) break;
    rows += rowsOf(request);
    if (rows > mostRowsPerGroup && group.length > 0) break;
    group.push(request);
  }
  return group;
}
