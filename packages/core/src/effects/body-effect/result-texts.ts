import type { ToolResult } from '../../ledger/tool-result.ts';
import { toolResult } from '../../tools/result.ts';

/**
 * Results recorded for effects without an outcome of their own, worded for the body and for people.
 */

export function effectNotKnown(why: string): ToolResult {
  return toolResult.unknown(why);
}

export function effectTimedOut(afterMs: number): ToolResult {
  return toolResult.timeout(`it did not finish within ${afterMs} ms and was stopped.`);
}

export function effectTimedOutBefore(afterMs: number): ToolResult {
  return toolResult.timeout(`its ${afterMs} ms were over before it could begin.`);
}

export function effectCancelledBefore(): ToolResult {
  return toolResult.blocked('it was cancelled before it began.', { errorType: 'cancelled' });
}

export function effectInterrupted(): ToolResult {
  return toolResult.unknown('the process stopped while it was under way.', {
    errorType: 'interrupted',
  });
}

export function effectDidNotHappen(): ToolResult {
  return toolResult.unknown('somebody has found out that it did not take place.', {
    errorType: 'no_effect',
  });
}

export function effectFailed(why: string): ToolResult {
  return toolResult.permanent(why);
}

export function effectInterruptedTooOften(times: number): ToolResult {
  return toolResult.unknown(
    `the process stopped ${times} times while it was under way, so it is not run again.`,
    { errorType: 'interrupted' },
  );
}
