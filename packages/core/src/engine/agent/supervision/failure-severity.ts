import { raisedSeverity, type Severity, severityOf } from '../../../ledger/decisions/severity.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import type { ErrorRoutingOptions } from '../../../supervision/options.ts';
import type { SeenCalls } from './seen-calls.ts';

/**
 * Returns the severity of a failure of a tool, raised when the tool fails like this again and
 * again. `undefined` where the agent has no strategies by severity.
 */
export function failureSeverity(
  tool: string,
  { errorType: type, status }: ToolResult,
  seen: SeenCalls,
  { severities, bySeverity }: Required<ErrorRoutingOptions>,
): Severity | undefined {
  if (Object.keys(severities).length + Object.keys(bySeverity).length === 0) return undefined;
  const errorType = type ?? status;
  const recent = seen
    .all()
    .map(({ name, result }) => ({ tool: name, errorType: result.errorType }));
  return raisedSeverity(severityOf({ errorType, status }, severities), { tool, errorType }, recent);
}
