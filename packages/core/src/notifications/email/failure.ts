import { aborted, type FailureKind, systemFailure, timedOut } from '../../tools/failure-kinds.ts';
import { NotificationFailedError, refusedNotice } from '../errors.ts';
import type { Notice } from '../notice.ts';

/** Codes of `nodemailer` for what another attempt does not change. */
const refusals: ReadonlyMap<string, string> = new Map([
  ['EAUTH', 'smtp_login_refused'],
  ['ENOAUTH', 'smtp_login_refused'],
  ['EENVELOPE', 'invalid_recipient'],
  ['ETLS', 'tls_error'],
  ['EREQUIRETLS', 'tls_error'],
]);

export interface EmailTrouble {
  readonly channel: string;
  readonly notice: Notice;
  /** True when the time limit of the channel had passed. */
  readonly late: boolean;
  readonly isAborted: boolean;
  /** True when the message may have been on its way: the login was over. */
  readonly hasBegun: boolean;
}

/**
 * Returns the failure that an error of a transport means. Its text is not shown: it may hold what a
 * server repeats of the credentials.
 */
export function emailFailure(thrown: unknown, trouble: EmailTrouble): NotificationFailedError {
  const { channel, notice, late, isAborted } = trouble;
  const { responseCode, code } = (thrown ?? {}) as {
    readonly responseCode?: unknown;
    readonly code?: unknown;
  };
  const kind = kindOf(thrown, trouble);
  const reply = typeof responseCode === 'number' ? `the server answered ${responseCode}` : '';
  const reason = late
    ? 'there was no answer within the time limit'
    : isAborted
      ? 'it was aborted while it was being sent'
      : reply ||
        `the server could not be used (${typeof code === 'string' ? code : kind.errorType})`;
  return new NotificationFailedError({ channel, notice: notice.id, kind, reason });
}

function kindOf(thrown: unknown, { late, isAborted, hasBegun }: EmailTrouble): FailureKind {
  if (late) return hasBegun ? timedOut : { ...timedOut, effect: 'none' };
  if (isAborted) return hasBegun ? aborted : { ...aborted, effect: 'none' };
  const { responseCode, code, originalCode } = (thrown ?? {}) as Record<string, unknown>;
  if (typeof responseCode === 'number' && responseCode >= 400) return ofReply(responseCode, code);
  const refused = refusals.get(String(code));
  if (refused !== undefined) return refusedNotice(refused);
  const system =
    systemFailure(String(originalCode), undefined) ?? systemFailure(String(code), undefined);
  if (system?.effect === 'none') return system;
  const { errorType } = system ?? { errorType: 'connection_lost' };
  return { status: 'error_transient', errorType, effect: hasBegun ? 'unknown' : 'none' };
}

/** Returns the meaning of a reply of SMTP: the message was not taken. */
function ofReply(reply: number, code: unknown): FailureKind {
  const errorType = code === 'EAUTH' ? 'smtp_login_refused' : `smtp_${reply}`;
  return reply < 500
    ? { status: 'error_transient', errorType, effect: 'none' }
    : refusedNotice(errorType);
}
