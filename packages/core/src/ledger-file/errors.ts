import { AdjutantError } from '../base/error.ts';

/** A file that is no ledger file, or a damaged one: nothing of it was used. */
export class InvalidLedgerFileError extends AdjutantError {
  constructor(data: { path: string; reason: string }, options?: ErrorOptions) {
    super(
      'invalid_ledger_file',
      `${data.path} cannot be read as a ledger file: ${data.reason}.`,
      data,
      options,
    );
  }
}

/** A later version of Adjutant wrote the file, or events in it. */
export class LedgerFileTooNewError extends AdjutantError {
  constructor(data: { path: string; reason: string }, options?: ErrorOptions) {
    super(
      'ledger_file_too_new',
      `${data.path} was written by a later version of Adjutant: ${data.reason}. Update ` +
        'Adjutant, or export the session again with this version.',
      data,
      options,
    );
  }
}

/** A value to be taken out is still in the text to be written, so nothing is written. */
export class RedactionIncompleteError extends AdjutantError {
  constructor(data: { session: string; rules: readonly string[] }) {
    super(
      'redaction_incomplete',
      `The ledger of session "${data.session}" cannot be exported: a value that ` +
        `${data.rules.join(' and ')} takes out is also part of what holds the ledger ` +
        'together, ' +
        'such as the name of an event type or the replacement itself. Choose another ' +
        '`replace`, or a rule that leaves such words alone.',
      data,
    );
  }
}

/** A session that has work to do cannot be archived. */
export class ArchiveRefusedError extends AdjutantError {
  constructor(data: { session: string; reason: string }) {
    super(
      'archive_refused',
      `The session "${data.session}" cannot be archived: ${data.reason}. Only sessions whose ` +
        'last run has ended, and for which nothing waits, can be.',
      data,
    );
  }
}
