import { AdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';

/** Another live owner writes the session. */
export class SessionBusyError extends AdjutantError {
  constructor(data: {
    session: string;
    owner: string;
    until?: number | undefined;
    detail?: string | undefined;
  }) {
    const until =
      data.until === undefined
        ? ''
        : ` until ${new Date(data.until).toISOString()} unless it renews`;
    super(
      'session_busy',
      data.detail ??
        `Session "${data.session}" is held by ${data.owner}${until}. ` +
          'Wait for it, or stop that process.',
      data as JsonObject,
    );
  }
}

/** The session was deleted while it was open. Nothing can be written to it any more. */
export class SessionDeletedError extends AdjutantError {
  constructor(data: { session: string }) {
    super(
      'session_deleted',
      `Session "${data.session}" was deleted while it was open here. ` +
        'Nothing more is recorded; open another session.',
      data,
    );
  }
}

export class SessionExistsError extends AdjutantError {
  constructor(data: { session: string }) {
    super('session_exists', `A session "${data.session}" exists already.`, data);
  }
}

export class SessionNotFoundError extends AdjutantError {
  constructor(data: { session: string; app: string }) {
    super('session_not_found', `There is no session "${data.session}" in app "${data.app}".`, data);
  }
}

/** Sessions of an encrypted store cannot be searched by their text. */
export class TextSearchUnavailableError extends AdjutantError {
  constructor(data: { store: string }) {
    super(
      'text_search_unavailable',
      `Sessions of the encrypted store "${data.store}" cannot be searched by their text: an ` +
        'index would hold in the open what is encrypted. Give the runtime a `search` of its own ' +
        'if that is wanted.',
      data,
    );
  }
}

/** The cursor of a list is invalid, or belongs to another list. */
export class InvalidCursorError extends AdjutantError {
  constructor(data: { cursor: string; reason: string }) {
    super(
      'invalid_cursor',
      `The list cannot go on at the cursor "${data.cursor}": ${data.reason}. ` +
        'Take the cursor of the last page, or none.',
      data,
    );
  }
}

/** The sequence number is outside the ledger. */
export class SeqOutOfRangeError extends AdjutantError {
  constructor(data: { seq: number; last: number }) {
    const { last } = data;
    super(
      'seq_out_of_range',
      `There is no seq ${data.seq} here: ` +
        `give a whole number from 0 (before the first event) to ${last} (the last one).`,
      data,
    );
  }
}

/** The session that was meant is gone; another one may have got its name. */
export class SessionGoneError extends AdjutantError {
  constructor(data: { session: string; birth?: string | undefined }) {
    super(
      'session_gone',
      `The session "${data.session}" that was meant no longer exists. Nothing was posted to it.`,
      data as JsonObject,
    );
  }
}
