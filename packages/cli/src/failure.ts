import { AdjutantError, isAdjutantError } from 'adjutant/errors';
import { ownCommand } from './host/own-name.ts';

/** Error for a command line that cannot be carried out as it stands. */
export class UsageError extends AdjutantError<string> {
  constructor(data: { reason: string }) {
    super('usage', data.reason, data);
  }
}

/** Exit codes of the program. `waiting`: the run continues after an answer. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, waiting: 3 } as const;

/** Codes of errors that the caller can correct by another call, unlike failures of a run. */
const inputCodes: ReadonlySet<string> = new Set([
  'usage',
  'invalid_model_name',
  'invalid_model',
  'missing_key',
  'missing_package',
  'session_not_found',
  'session_exists',
  'seq_out_of_range',
  'not_resolvable',
  'not_reopenable',
  'invalid_task',
  'task_not_found',
  'task_ended',
  'invalid_trigger',
  'trigger_not_found',
  'trigger_state',
  'invalid_bus_event',
  'request_not_found',
  'request_settled',
  'decision_not_offered',
  'may_not_decide',
  'input_mismatch',
  'invalid_answer',
  'redaction_incomplete',
  'ledger_file_too_new',
  'invalid_ledger_file',
  'invalid_config',
  'invalid_dataset',
  'invalid_eval',
  'user_model_missing',
  'invalid_server',
  'cannot_listen',
  'invalid_api_key',
  'api_key_not_found',
  'api_key_state',
  'undeclared_scope',
  'invalid_state',
]);

/** Problem of a server, or of the connection to it, as its client reports it. */
interface ClientFailure extends Error {
  readonly code: string;
  /** HTTP status of the server's answer. */
  readonly status?: number;
  readonly data?: object;
}

const clientFailures: ReadonlySet<string> = new Set([
  'ServerProblemError',
  'ConnectionLostError',
  'UnexpectedAnswerError',
  'InvalidClientError',
]);

export function isClientFailure(error: unknown): error is ClientFailure {
  return error instanceof Error && clientFailures.has(error.name);
}

function isOfCaller({ code, status }: ClientFailure): boolean {
  if (code === 'invalid_client' || code === 'unexpected_answer') return true;
  return status !== undefined && status >= 400 && status < 500 && status !== 429;
}

export function exitCodeOf(error: unknown): number {
  if (isClientFailure(error)) return isOfCaller(error) ? exitCodes.usage : exitCodes.failed;
  return isAdjutantError(error) && inputCodes.has(error.code) ? exitCodes.usage : exitCodes.failed;
}

/** Returns an error as a line for people. */
export function describeFailure(error: unknown): string {
  if (isClientFailure(error))
    return error.status === 401
      ? `${error.message} Give a key with --key, or in ADJUTANT_KEY.`
      : error.message;
  if (isAdjutantError(error, 'session_busy')) return describeBusy(error);
  if (isAdjutantError(error, 'session_not_found'))
    return (
      `There is no session "${error.data['session']}" of the app "${error.data['app']}". ` +
      `${ownCommand('sessions')} lists those that there are, --app names another app.`
    );
  if (isAdjutantError(error, 'request_not_found'))
    return (
      `There is no request "${error.data['requestId']}". ${ownCommand('approvals')} lists those ` +
      'that wait, --app names another app.'
    );
  if (isAdjutantError(error, 'invalid_trigger'))
    return `The trigger cannot be set up: ${error.data['reason']}.`;
  // The model of a flag; that of an app is told with its file.
  if (isAdjutantError(error, 'missing_key') && error.data['file'] === undefined)
    return describeMissingKey(error);
  if (isAdjutantError(error)) return error.message;
  return error instanceof Error
    ? `${error.name}: ${error.message}`
    : `A value that is not an error was thrown: ${String(error)}`;
}

/**
 * Process id of the holder of a session. Owners on this machine are named `<boot>/<process id>/…`.
 */
export function holderOf({ data }: AdjutantError): string | undefined {
  const [, process, ...rest] = String(data['owner']).split('/');
  return rest.length === 2 ? process : undefined;
}

function describeBusy(error: AdjutantError): string {
  const { session } = error.data;
  const process = holderOf(error);
  if (process === undefined) return error.message;
  return (
    `Session "${session}" is being run by another process (process id ${process}). Wait for ` +
    'it to end, or stop it.'
  );
}

/** Message for a missing key, without the advice for programs that the error's own text has. */
function describeMissingKey({ data }: AdjutantError): string {
  const variables = Array.isArray(data['variables']) ? data['variables'].join(' or ') : '';
  return (
    `${data['model']} needs credentials. Set ${variables} in the environment, or name ` +
    'another model with --model.'
  );
}
