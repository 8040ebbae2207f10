import type { ToolResult } from '../ledger/tool-result.ts';
import { toolResult } from '../tools/result.ts';

/** What the model reads when nobody knows whether a call took effect. */
export function unknownOutcome(why: string): ToolResult {
  return toolResult.unknown(`It is not known whether this call took effect: ${why}. It has not been repeated.`, {
    alternatives: ['check whether it took effect before you repeat it'],
  });
}

export function timedOut(name: string, afterMs: number): ToolResult {
  return toolResult.timeout(`The tool ${name} did not finish within ${afterMs} ms and was stopped.`, {
    alternatives: ['ask for less at a time', 'try it another way'],
  });
}

/** What is recorded of a call that a cancelled run had not begun. */
export function cancelledBefore(): ToolResult {
  return toolResult.blocked('The call was cancelled before the tool was run.', { errorType: 'cancelled' });
}

/** What is recorded of an attempt that was open when its run was cancelled. */
export function cancelledMeanwhile(): ToolResult {
  return toolResult.unknown('The call was cancelled while the tool was running.', { errorType: 'cancelled' });
}

/** What is recorded of an attempt that is to be made again because its process stopped. */
export function interrupted(): ToolResult {
  return toolResult.unknown('The process stopped while the tool was running.', { errorType: 'interrupted' });
}
