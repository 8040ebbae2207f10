import { isAdjutantError } from '../../base/error.ts';
import { StoreUnavailableError } from '../../ledger/errors.ts';

interface DatabaseFailure {
  readonly message: string;
  readonly code?: unknown;
  readonly severity?: unknown;
  readonly syscall?: unknown;
}

/**
 * Explanations of errors of PostgreSQL, for the developer who gave the store its pool. By code
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const reasons: Readonly<Record<string, string>> = {
  '28000':
    'the server refuses this user; check the user, the password and the server’s pg_hba.conf',
  '28P01': 'the server refuses the password of this user',
  '3D000': 'the database does not exist; create it first',
  '42501': 'this user lacks a right that the store needs',
  '53100': 'the disk of the server is full',
  '53300': 'the server has no connection to spare; make the pools of its clients smaller',
  '57P03': 'the server is starting or stopping',
  '25006': 'the server takes no writes; connect to the primary server',
};

/**
 * Classes of codes whose failures may pass: connections, conflicts of transactions, resources,
 * objects in use, operators, system, read-only.
 */
const passing: ReadonlySet<string> = new Set(['08', '25', '40', '53', '55', '57', '58']);

const diskFull = '53100';

const sqlState = /^[0-9A-Z]{5}$/;

function codeOf(error: unknown): string | undefined {
  const code = (error as DatabaseFailure | undefined)?.code;
  return typeof code === 'string' && sqlState.test(code) ? code : undefined;
}

/** True when the server rolled a transaction back because of others: it may be tried again. */
export function isLostAgainstOthers(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/**
 * True when the connection ended while a statement was under way, as idle ones of a pool do when a
 * server restarts. False when no connection could be made.
 */
export function isConnectionLost(error: unknown): boolean {
  if (isAdjutantError(error)) return false;
  const code = codeOf(error);
  return code === undefined ? !isNotReached(error) : code === '57P01' || code.startsWith('08');
}

function isNotReached(error: unknown): boolean {
  const syscall = (error as DatabaseFailure | undefined)?.syscall;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

/** True when the server said that it did not carry out the statement. */
export function isRolledBack(error: unknown): boolean {
  return (
    codeOf(error) !== undefined &&
    (error as DatabaseFailure).severity !== 'FATAL' &&
    (error as DatabaseFailure).severity !== 'PANIC'
  );
}

/** True when a schema or one of its tables does not exist. */
export function isUndefined(error: unknown): boolean {
  const code = codeOf(error);
  return code === '42P01' || code === '3F000';
}

/** Describes a failure of the driver or the server as an error that says what to do. */
export function describeFailure(error: unknown, store: string): Error {
  if (isAdjutantError(error)) return error;
  const message = error instanceof Error ? error.message || errorsWithin(error) : String(error);
  const code = codeOf(error);
  if (code === undefined) return describeLostConnection(error, message, store);
  const known = reasons[code];
  const fatal = !isRolledBack(error);
  return new StoreUnavailableError(
    {
      store,
      reason: known === undefined ? message : `${known} (${message})`,
      ...(passing.has(code.slice(0, 2)) ? {} : { permanent: true }),
      ...(code === diskFull ? { full: true } : {}),
      // The session of the server ended, before or after the commit.
      ...(fatal && code.startsWith('57P') && code !== '57P03' ? { undetermined: true } : {}),
    },
    { cause: error },
  );
}

function describeLostConnection(
  error: unknown,
  message: string,
  store: string,
): StoreUnavailableError {
  const notSent = isNotReached(error);
  const reason = notSent
    ? `it cannot be reached (${message})`
    : `the connection was lost or not to be had (${message})`;
  return new StoreUnavailableError(
    { store, reason, ...(notSent ? {} : { undetermined: true }) },
    { cause: error },
  );
}

/**
 * Returns the errors within one. Node tries all addresses of a host and has all failures in one
 * error without a message.
 */
function errorsWithin(error: Error): string {
  const { errors, code } = error as { errors?: unknown; code?: unknown };
  if (Array.isArray(errors))
    return errors.map((each) => String((each as Error).message)).join('; ');
  return typeof code === 'string' ? code : error.name;
}
