import type { EndedAttempt } from '../../../effects/tool-call/supervisor.ts';
import { isSuccess } from '../../../ledger/tool-result.ts';
import type { Tool } from '../../../tools/tool.ts';

/**
 * True when an attempt may be repeated or followed by another tool. Its effect must be known to be
 * none, or the tool must allow another run.
 */
export function mayRepeat({ effect, tool, result }: EndedAttempt): boolean {
  if (effect === 'none') return true;
  // A tool that has done its work is not run again because of a later failure.
  return tool.recovery === 'rerun' && (effect === 'unknown' || isSuccess(result));
}

/**
 * True when a call of a tool may have removed the cause of a failure: the tool declares changes
 * outside. Tools without such a declaration count as reading only. After a plain `tool_error`, as
 * of failing tests, every tool that is not `rerun` may have helped.
 */
export function mayMend(tool: Tool | undefined, errorType: string): boolean {
  if (tool === undefined) return false;
  if (errorType === 'tool_error' && tool.recovery !== 'rerun') return true;
  return (
    tool.destructive ||
    tool.onRepeat === 'confirm' ||
    tool.recovery === 'ask' ||
    typeof tool.recovery === 'function'
  );
}
