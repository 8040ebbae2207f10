import type { ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/call-state.ts';
import type { Tool } from '../tools/tool.ts';
import { interrupted, interruptedTooOften, unknownOutcome } from './tool-result-texts.ts';

/**
 * Attempts of one call that may be cut off by the end of their process before the call is settled
 * as it is: the tool may be what ends it.
 */
const mostInterruptions = 3;

/**
 * What is recorded of an attempt whose process stopped. Its effect is not known: the tool's
 * recovery says what follows.
 */
export function resultOfInterrupted(
  { attempts }: CallState,
  tool: Tool | undefined,
  hasChildren: boolean,
): { readonly result: ToolResult; readonly settled: boolean } {
  // A call that has begun children is continued like a step: its body runs again and gets what they
  // gave.
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
