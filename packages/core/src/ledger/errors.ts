import { AdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';

/** Another writer owns the ledger now, or its head is not where this writer believed. The writer must stop quietly. */
export class LedgerConflictError extends AdjutantError {
  constructor(data: { session: string; expected: JsonObject; found: JsonObject }) {
    super(
      'ledger_conflict',
      `The ledger of session "${data.session}" is at seq ${data.found['seq']} under epoch ${data.found['epoch']}, ` +
        `not at seq ${data.expected['seq']} under epoch ${data.expected['epoch']}: another writer has taken it over. Read it again before writing.`,
      data,
    );
  }
}

/** The session is being written by another live owner. */
export class SessionBusyError extends AdjutantError {
  constructor(data: { session: string; owner: string; until?: number | undefined; detail?: string | undefined }) {
    const until = data.until === undefined ? '' : ` until ${new Date(data.until).toISOString()} unless it renews`;
    super(
      'session_busy',
      data.detail ?? `Session "${data.session}" is held by ${data.owner}${until}. Wait for it, or stop that process.`,
      data as JsonObject,
    );
  }
}

export class SessionNotFoundError extends AdjutantError {
  constructor(data: { session: string; app: string }) {
    super('session_not_found', `There is no session "${data.session}" in app "${data.app}".`, data);
  }
}

export class SessionExistsError extends AdjutantError {
  constructor(data: { session: string }) {
    super('session_exists', `A session "${data.session}" exists already.`, data);
  }
}

/** The session was deleted while it was open: nothing can be written to it any more. */
export class SessionDeletedError extends AdjutantError {
  constructor(data: { session: string }) {
    super('session_deleted', `Session "${data.session}" was deleted while it was open here. Nothing more is recorded; open another session.`, data);
  }
}

/** The cursor of a list is none, or of another list. */
export class InvalidCursorError extends AdjutantError {
  constructor(data: { cursor: string; reason: string }) {
    super('invalid_cursor', `The list cannot go on at the cursor "${data.cursor}": ${data.reason}. Take the cursor of the last page, or none.`, data);
  }
}

/** A place was asked for that the ledger does not have. */
export class SeqOutOfRangeError extends AdjutantError {
  constructor(data: { seq: number; last: number }) {
    const { last } = data;
    super(
      'seq_out_of_range',
      `There is no seq ${data.seq} here: give a whole number from 0 (before the first event) to ${last} (the last one).`,
      data,
    );
  }
}

/** What the ledger recorded does not fit the code that is to continue it. Nothing has run. */
export class LedgerMismatchError extends AdjutantError {
  constructor(data: { path: string; recorded: string; found: string; advice?: string }) {
    super(
      'ledger_mismatch',
      `At "${data.path}" the ledger recorded ${data.recorded}, but the code now has ${data.found}. ` +
        (data.advice ?? 'Restore the definition that the run was started with, or start a new run.'),
      data,
    );
  }
}

/** A stored event cannot be read: it is damaged, or of a type or version that this build does not know. */
export class LedgerUnreadableError extends AdjutantError {
  constructor(data: { session: string; seq: number; reason: string }) {
    super('ledger_unreadable', `Event ${data.seq} of session "${data.session}" cannot be read: ${data.reason}.`, data);
  }
}

/**
 * The store did not answer, or refused for a reason that has nothing to do with the ledger's contents. `permanent`: asking again cannot
 * help as long as nobody changes something. `undetermined`: what was asked may have been carried out.
 */
export class StoreUnavailableError extends AdjutantError {
  constructor(data: { store: string; reason: string; permanent?: boolean; undetermined?: boolean }, options?: ErrorOptions) {
    super('store_unavailable', `The store ${data.store} cannot be used: ${data.reason}.`, data, options);
  }
}

/** The file or database was written by a newer version of Adjutant. */
export class StoreTooNewError extends AdjutantError {
  constructor(data: { store: string; found: number; supported: number }) {
    super(
      'store_too_new',
      `The store ${data.store} has schema version ${data.found}; this version of Adjutant knows versions up to ${data.supported}. Upgrade Adjutant to open it.`,
      data,
    );
  }
}

/** An append refers to a blob that the store does not hold. Put the blob and append again. */
export class BlobMissingError extends AdjutantError {
  constructor(data: { address: string }) {
    super('blob_missing', `The store holds no blob at address ${data.address}.`, data);
  }
}

/** A shared value was changed by another session since it was read. */
export class StateConflictError extends AdjutantError {
  constructor(data: { scope: string; scopeId: string; keys: readonly string[] }) {
    super(
      'state_conflict',
      `The shared state "${data.scope}" of "${data.scopeId}" was changed elsewhere since it was read (${data.keys.join(', ')}). Read it again and repeat the change.`,
      data,
    );
  }
}

/** There is no such request, here or for this tenant and app. */
export class RequestNotFoundError extends AdjutantError {
  constructor(data: { requestId: string }) {
    super('request_not_found', `There is no request "${data.requestId}".`, data);
  }
}

/** Somebody or something else has settled the request before: of all answers, expiries and cancels one wins. */
export class RequestSettledError extends AdjutantError {
  constructor(data: { requestId: string; status: string; by?: string | undefined }) {
    const by = data.by === undefined ? '' : ` by ${data.by}`;
    super('request_settled', `Request "${data.requestId}" can no longer be answered: it is ${data.status}${by}.`, data as JsonObject);
  }
}

/** A value that is to be recorded is not JSON. */
export class NotJsonError extends AdjutantError {
  constructor(data: { what: string; path: string; found: string }) {
    super(
      'not_json',
      `${data.what} must be JSON, but ${data.path} is ${data.found}. Convert it before handing it over (a Date by toISOString(), a Map by Object.fromEntries(), …).`,
      data,
    );
  }
}
