import { AdjutantError, isAdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';

/**
 * Another writer owns the ledger now, or its head is not where this writer expected it. The writer
 * must stop quietly.
 */
export class LedgerConflictError extends AdjutantError {
  constructor(data: { session: string; expected: JsonObject; found: JsonObject }) {
    super(
      'ledger_conflict',
      `The ledger of session "${data.session}" ${differenceOf(data.expected, data.found)}: ` +
        'another writer has taken it over. Read it again before writing.',
      data,
    );
  }
}

/**
 * Describes the difference of two heads. A different epoch means another owner. Only `append`
 * compares `seq`; the renewal of a lease does not.
 */
function differenceOf(expected: JsonObject, found: JsonObject): string {
  if (found['epoch'] !== expected['epoch'])
    return `is under epoch ${found['epoch']}, and no longer under epoch ${expected['epoch']}`;
  return `is at seq ${found['seq']} under epoch ${found['epoch']}, not at seq ${expected['seq']}`;
}

/** The recorded ledger does not fit the code that should continue it. Nothing has run. */
export class LedgerMismatchError extends AdjutantError {
  constructor(data: { path: string; recorded: string; found: string; advice?: string }) {
    super(
      'ledger_mismatch',
      `At "${data.path}" the ledger recorded ${data.recorded}, ` +
        `but the code now has ${data.found}. ` +
        (data.advice ??
          'Restore the definition that the run was started with, or start a new run.'),
      data,
    );
  }
}

/**
 * A stored event cannot be read: it is damaged, or of a type or version that this build does not
 * know.
 */
export class LedgerUnreadableError extends AdjutantError {
  constructor(data: { session: string; seq: number; reason: string }) {
    super(
      'ledger_unreadable',
      `Event ${data.seq} of session "${data.session}" cannot be read: ${data.reason}.`,
      data,
    );
  }
}

/** A shared value was changed by another session since it was read. */
export class StateConflictError extends AdjutantError {
  constructor(data: { scope: string; scopeId: string; keys: readonly string[] }) {
    super(
      'state_conflict',
      `The shared state "${data.scope}" of "${data.scopeId}" was changed elsewhere ` +
        `since it was read (${data.keys.join(', ')}). Read it again and repeat the change.`,
      data,
    );
  }
}

/**
 * A body that runs again does not make its recorded writes. `order`: it writes a key that others
 * write too in another order. `left_over`: it has ended without a recorded write. Nothing has
 * landed, and the invocation stays open.
 */
export class StateOrderError extends AdjutantError {
  constructor(data: { path: string; scope: string; key: string; reason: 'order' | 'left_over' }) {
    super('state_order', `"${data.path}" runs again and ${stateOrderText(data)}`, data);
  }
}

function stateOrderText({
  scope,
  key,
  reason,
}: {
  scope: string;
  key: string;
  reason: 'order' | 'left_over';
}): string {
  if (reason === 'order') {
    return (
      `does not write "${key}" of the ${scope} state as it did before, ` +
      'though others write it too: it is not known what has been counted already. ' +
      'Change the key with `update` alone, or give the write an `id`: update(key, fn, { id }).'
    );
  }
  return (
    `has ended without a write of "${key}" of the ${scope} state that the ledger has of it. ` +
    "Restore the code that made it; a step may accept what is recorded with `onDrift: 'accept'`."
  );
}

/**
 * Checks that an error means that code does not fit the ledger. This is no failure: nothing of it
 * is recorded, and the right code can go on.
 */
export function leavesOpen(error: unknown): boolean {
  return ['ledger_mismatch', 'unknown_runnable', 'state_order'].some((code) =>
    isAdjutantError(error, code),
  );
}

/** A value for the ledger is not JSON. */
export class NotJsonError extends AdjutantError {
  constructor(data: { what: string; path: string; found: string }) {
    super(
      'not_json',
      `${data.what} must be JSON, but ${data.path} is ${data.found}. ` +
        'Convert it before handing it over ' +
        '(a Date by toISOString(), a Map by Object.fromEntries(), …).',
      data,
    );
  }
}

export { RequestNotFoundError, RequestSettledError } from './errors/request-errors.ts';
export {
  InvalidCursorError,
  SeqOutOfRangeError,
  SessionBusyError,
  SessionDeletedError,
  SessionExistsError,
  SessionGoneError,
  SessionNotFoundError,
} from './errors/session-errors.ts';
export {
  BlobMissingError,
  StoreTooNewError,
  StoreUnavailableError,
} from './errors/store-errors.ts';
export { KeyBusyError, QueueFullError } from './errors/turn-errors.ts';
