import { editDistance } from '../../base/nearest-name.ts';

/** Statuses of failed results. Chains of a status hold for error types without one of their own. */
const statuses = ['error_transient', 'error_permanent', 'error_blocked', 'timeout'];

/** Error types of the runtime, of its classification of thrown errors and of the ready tools. */
const errorTypes = [
  'aborted',
  'binary_file',
  'circuit_open',
  'connection_lost',
  'connection_refused',
  'empty_file',
  'empty_result',
  'file_not_found',
  'file_system_error',
  'guardrail_denied',
  'handoff_refused',
  'hook_failed',
  'hook_refused',
  'host_not_found',
  'host_unreachable',
  'network_error',
  'no_effect',
  'operation_failed',
  'parse_error',
  'path_refused',
  'permission_denied',
  'resource_busy',
  'ssrf_blocked',
  'tls_error',
  'tool_error',
  'too_large',
  'too_many_redirects',
  'unknown_tool',
  'unreadable_action',
  'unsupported_content',
  'validation_error',
];

/** Statuses that are accepted for completeness: results with them are rarely failures. */
const otherStatuses = ['success', 'partial', 'unknown'];

const known: readonly string[] = ['default', ...statuses, ...errorTypes, ...otherStatuses];

/** Keys that people write when they mean all failures. */
const meansDefault: ReadonlySet<string> = new Set([
  '*',
  'all',
  'any',
  'else',
  'other',
  'otherwise',
  'error',
  'errors',
  'fallback',
]);

/** Most letters that may be wrong in a key that is taken for a known one. */
const mostWrong = 2;
/** Shorter keys are not compared: too many words are near to them. */
const shortestCompared = 6;

/**
 * Returns the problem of a key of `chains`; `undefined` for one that a failure may have. Tools may
 * give their failures error types of their own, so a key is refused only when it is no name, or
 * nearly a known one.
 */
export function chainKeyProblem(key: string): string | undefined {
  if (known.includes(key) || /^http_[1-5]\d\d$/.test(key)) return undefined;
  if (meansDefault.has(key.toLowerCase()))
    return `no chain \`${key}\`: the chain for all failures without one is called \`default\``;
  if (/^http[_-]?(\d|$)/i.test(key) || /^[1-5](\d\d|xx)$/i.test(key))
    return (
      `no chain \`${key}\`: ` + 'HTTP failures are called `http_` and their status, as `http_404`'
    );
  const meant = nearest(key);
  if (meant !== undefined) return `no chain \`${key}\` (did you mean \`${meant}\`?)`;
  return /^[a-z][\w.:/-]*$/i.test(key)
    ? undefined
    : `no chain \`${key}\`: a key is an error type such as \`http_404\`, a status such as ` +
        '`error_transient`, or `default`';
}

function nearest(key: string): string | undefined {
  const wanted = bare(key);
  const same = known.find((name) => bare(name) === wanted);
  if (same !== undefined || wanted.length < shortestCompared || key.length > 100) return same;
  return known.find(
    (name) =>
      bare(name).length >= shortestCompared && editDistance(wanted, bare(name)) <= mostWrong,
  );
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[\s._-]/g, '');
}
