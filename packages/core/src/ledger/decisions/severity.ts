import type { ToolResultStatus } from '../tool-result.ts';

/**
 * Weight of a failure.
 * - `low`: the model corrects its call.
 * - `medium`: the same call may succeed later.
 * - `high`: another way is needed.
 * - `critical`: a person is needed.
 */
export type Severity = 'low' | 'medium' | 'high' | 'critical';

/** All severities, the lightest first. */
export const severities: readonly Severity[] = Object.freeze(['low', 'medium', 'high', 'critical']);

const byErrorType: Readonly<Record<string, Severity>> = {
  validation_error: 'low',
  unknown_tool: 'low',
  empty_result: 'low',
  parse_error: 'low',
  http_404: 'low',
  http_410: 'low',
  file_not_found: 'low',
  loop_blocked: 'low',
  tool_error: 'medium',
  circuit_open: 'high',
  escalated: 'critical',
};

const byStatus: Readonly<Record<ToolResultStatus, Severity>> = {
  success: 'low',
  partial: 'low',
  error_transient: 'medium',
  timeout: 'medium',
  error_permanent: 'high',
  error_blocked: 'high',
  unknown: 'high',
};

/** Calls that are looked back at, and failures of one kind among them that raise it. */
const recentCalls = 10;
const manyFailures = 4;

/** Returns the severity of a failure: as configured, else by its error type, else by its status. */
export function severityOf(
  { errorType, status }: { readonly errorType: string; readonly status: ToolResultStatus },
  configured: Readonly<Record<string, Severity>> = {},
): Severity {
  for (const known of [configured, byErrorType])
    if (Object.hasOwn(known, errorType)) return known[errorType] as Severity;
  return Object.hasOwn(configured, status) ? (configured[status] as Severity) : byStatus[status];
}

/**
 * Raises the severity of a failure to `high` when the same tool failed in the same way several
 * times lately, whatever its arguments.
 * @param recent earlier calls, oldest first
 */
export function raisedSeverity(
  severity: Severity,
  failure: { readonly tool: string; readonly errorType: string },
  recent: readonly { readonly tool: string; readonly errorType: string | undefined }[],
): Severity {
  if (severities.indexOf(severity) >= severities.indexOf('high')) return severity;
  const same = recent
    .slice(1 - recentCalls)
    .filter(({ tool, errorType }) => tool === failure.tool && errorType === failure.errorType);
  return same.length + 1 >= manyFailures ? 'high' : severity;
}
