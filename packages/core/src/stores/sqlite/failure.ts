import { isAdjutantError } from '../../base/error.ts';
import {
  BlobMissingError,
  KeyBusyError,
  LedgerConflictError,
  LedgerUnreadableError,
  QueueFullError,
  RequestNotFoundError,
  RequestSettledError,
  SessionBusyError,
  SessionExistsError,
  SessionGoneError,
  SessionNotFoundError,
  StateConflictError,
  StoreTooNewError,
  StoreUnavailableError,
} from '../../ledger/errors.ts';
import type { WorkerFailure } from './protocol.ts';

const rangeCode = 'range';

/**
 * True when an operation refused its request before it wrote anything, false for a failure of the
 * database.
 */
export function isRefusal(thrown: unknown): boolean {
  return (
    thrown instanceof RangeError || (isAdjutantError(thrown) && thrown.code !== 'store_unavailable')
  );
}

export function toFailure(thrown: unknown, store: string): WorkerFailure {
  if (thrown instanceof RangeError) return { code: rangeCode, message: thrown.message, data: {} };
  if (isAdjutantError(thrown))
    return { code: thrown.code, message: thrown.message, data: thrown.data };
  // Failures of the database were described before: this one belongs to the request or the program.
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'store_unavailable', message, data: { store, reason: message, permanent: true } };
}

type ErrorClass = new (data: never) => Error;

const classes: Readonly<Record<string, ErrorClass>> = {
  blob_missing: BlobMissingError,
  key_busy: KeyBusyError,
  ledger_conflict: LedgerConflictError,
  ledger_unreadable: LedgerUnreadableError,
  queue_full: QueueFullError,
  request_not_found: RequestNotFoundError,
  request_settled: RequestSettledError,
  session_busy: SessionBusyError,
  session_exists: SessionExistsError,
  session_gone: SessionGoneError,
  session_not_found: SessionNotFoundError,
  state_conflict: StateConflictError,
  store_too_new: StoreTooNewError,
  store_unavailable: StoreUnavailableError,
};

/** Returns the error of the worker, in its own class again. */
export function fromFailure(failure: WorkerFailure): Error {
  const Class = classes[failure.code];
  return Class === undefined ? new RangeError(failure.message) : new Class(failure.data as never);
}
