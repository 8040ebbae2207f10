import type { ToolEffect, ToolResultStatus } from '../ledger/tool-result.ts';

/**
 * The meaning of a signature of a failure (an HTTP status, a system code, the name of an error).
 */
export interface FailureKind {
  readonly status: ToolResultStatus;
  readonly errorType: string;
  readonly effect: ToolEffect;
}

/**
 * Statuses between 400 and 499 that do not tell if the request was carried out. All others say that
 * it was not.
 */
const undecided = new Set([408, 409]);
const refused = new Set([401, 403, 407, 451]);
const temporary = new Set([408, 425, 429]);

/**
 * Returns the meaning of an HTTP status from 400 to 599: the request was refused, which had no
 * effect, or may have been carried out.
 */
export function httpFailure(status: number): FailureKind {
  const server = status >= 500;
  return {
    status:
      server || temporary.has(status)
        ? 'error_transient'
        : refused.has(status)
          ? 'error_blocked'
          : 'error_permanent',
    errorType: `http_${status}`,
    effect: server || undecided.has(status) ? 'unknown' : 'none',
  };
}

const transient = (errorType: string, effect: ToolEffect): FailureKind => ({
  status: 'error_transient',
  errorType,
  effect,
});
const permanent = (errorType: string, effect: ToolEffect = 'none'): FailureKind => ({
  status: 'error_permanent',
  errorType,
  effect,
});

const connectionLost = transient('connection_lost', 'unknown');
const unreachable = transient('host_unreachable', 'unknown');
const certificateRefused = permanent('tls_error');
const fileSystemError = permanent('file_system_error');
const resourceBusy = transient('resource_busy', 'none');

/** A time limit that passed while the outcome was still open. */
export const timedOut: FailureKind = { status: 'timeout', errorType: 'timeout', effect: 'unknown' };
/** An abort while the work was running. */
export const aborted: FailureKind = { status: 'unknown', errorType: 'aborted', effect: 'unknown' };
/** A failure of the network that gives no cause. */
export const networkError = transient('network_error', 'unknown');
/** A response that is not JSON: the service may have done what was asked. */
export const unreadableJson = permanent('parse_error', 'unknown');
export const refusedByValidation = permanent('validation_error');
/** A failure that the tool reports itself. */
export const toolError = permanent('tool_error');

/** Codes of Node, its HTTP client (undici) and its TLS. */
const failureBySystemCode: ReadonlyMap<string, FailureKind> = new Map<string, FailureKind>([
  ['ECONNREFUSED', transient('connection_refused', 'none')],
  ['ENOTFOUND', permanent('host_not_found')],
  ['EAI_AGAIN', transient('host_not_found', 'none')],
  ['EHOSTUNREACH', unreachable],
  ['ENETUNREACH', unreachable],
  ['EHOSTDOWN', unreachable],
  ['ENETDOWN', unreachable],
  ['ECONNRESET', connectionLost],
  ['ECONNABORTED', connectionLost],
  ['EPIPE', connectionLost],
  ['ERR_STREAM_PREMATURE_CLOSE', connectionLost],
  ['ERR_SOCKET_CLOSED', connectionLost],
  ['UND_ERR_SOCKET', connectionLost],
  ['ETIMEDOUT', timedOut],
  ['ESOCKETTIMEDOUT', timedOut],
  ['ERR_SOCKET_CONNECTION_TIMEOUT', timedOut],
  ['UND_ERR_CONNECT_TIMEOUT', timedOut],
  ['UND_ERR_HEADERS_TIMEOUT', timedOut],
  ['UND_ERR_BODY_TIMEOUT', timedOut],
  ['ABORT_ERR', aborted],
  ['UND_ERR_ABORTED', aborted],
  ['CERT_HAS_EXPIRED', certificateRefused],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', certificateRefused],
  ['SELF_SIGNED_CERT_IN_CHAIN', certificateRefused],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', certificateRefused],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', certificateRefused],
  ['ERR_TLS_CERT_ALTNAME_INVALID', certificateRefused],
  ['ENOENT', permanent('file_not_found')],
  ['EACCES', permanent('permission_denied')],
  ['EPERM', permanent('permission_denied')],
  ['EROFS', permanent('permission_denied')],
  ['ENOTDIR', fileSystemError],
  ['EISDIR', fileSystemError],
  ['EEXIST', fileSystemError],
  ['ENOTEMPTY', fileSystemError],
  ['ELOOP', fileSystemError],
  ['ENAMETOOLONG', fileSystemError],
  ['EXDEV', fileSystemError],
  ['EMFILE', resourceBusy],
  ['ENFILE', resourceBusy],
  ['EBUSY', resourceBusy],
  // A write that ran out of room or hit a broken disk may have written a part.
  ['ENOSPC', permanent('file_system_error', 'unknown')],
  ['EDQUOT', permanent('file_system_error', 'unknown')],
  ['EIO', permanent('file_system_error', 'unknown')],
]);

const usageErrorsOfUndici = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_INVALID_RETURN_VALUE',
  'UND_ERR_NOT_SUPPORTED',
]);

/** Returns the meaning of a system code; `syscall` is the operation of Node. */
export function systemFailure(code: string, syscall: unknown): FailureKind | undefined {
  const known = failureBySystemCode.get(code);
  if (known === unreachable && syscall === 'connect') return transient('host_unreachable', 'none');
  if (known === undefined && code.startsWith('UND_ERR_') && !usageErrorsOfUndici.has(code))
    return networkError;
  return known;
}
