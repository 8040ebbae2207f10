import type { ToolResult } from '../../ledger/tool-result.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { Tool } from '../../tools/tool.ts';
import { interrupted, interruptedTooOften, unknownOutcome } from './result-texts.ts';

/**
 * Attempts of one call that the end of their process may interrupt, before the call is settled. The
 * tool itself may be the cause of that end.
 */
const mostInterruptions = 3;

/**
 * Returns the result to record for an attempt whose process stopped. The effect of the attempt is
 * unknown: the `recovery` of the tool says what follows.
 */
export function resultOfInterrupted(
  { attempts }: CallState,
  tool: Tool | undefined,
  hasChildren: boolean,
): { readonly result: ToolResult; readonly settled: boolean } {
  // A call that has begun children continues like a step: its body runs again and gets their
  // results.
  if (hasChildren) return { result: interrupted(), settled: false };
  if (tool?.recovery !== 'rerun')
    return {
      result: unknownOutcome('the process stopped while the tool was running'),
      settled: true,
    };
  const before = attempts.filter(({ result }) => result?.result.errorType === 'interrupted').length;
  if (before + 1 < mostInterruptions) return { result: interrupted(), settled: false };
  return { result: interruptedTooOften(tool.name, before + 1), settled: true };
}
