import { leavesOpen } from '../../../ledger/errors.ts';
import { isSuccess, type ToolEffect, type ToolResult } from '../../../ledger/tool-result.ts';
import { isRunnable, type Runnable } from '../../../session/runnable.ts';
import { classifyThrown } from '../../../tools/classify.ts';
import { PendingOperation } from '../../../tools/request-options.ts';
import { toolResult, toToolResult } from '../../../tools/result.ts';
import { cancelledWhileRunning, doneButNotFinished, timedOut } from '../result-texts.ts';
import type { Attempt } from './attempt.ts';

/** End of an attempt. */
export interface Ending {
  readonly result: ToolResult;
  /** Missing when the tool did its work, also when something failed afterwards. */
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
  readonly next: Runnable | undefined;
  /** Operation elsewhere whose result the call waits for. */
  readonly operation?: PendingOperation;
}

/** Returns the ending of an attempt with this result, after which nothing else follows. */
export function endingWith(result: ToolResult, effect: ToolEffect | undefined): Ending {
  return { result, effect, retryAfterMs: undefined, next: undefined };
}

/** Returns the ending of a tool that returned this value. */
export function returnedEnding({ stage }: Attempt, returned: unknown): Ending {
  if (isHandoff(returned))
    return {
      result: toolResult.success(null),
      effect: undefined,
      retryAfterMs: undefined,
      next: returned,
    };
  if (returned instanceof PendingOperation)
    return {
      result: toolResult.success(null),
      effect: undefined,
      retryAfterMs: undefined,
      next: undefined,
      operation: returned,
    };
  const result = toToolResult(returned);
  const failed = !isSuccess(result) && stage !== 'finish';
  const effect = result.status === 'timeout' || result.status === 'unknown' ? 'unknown' : 'none';
  return endingWith(result, failed ? effect : undefined);
}

/**
 * Returns the ending of a tool that threw, or of the abort that came before.
 * @throws the thrown error when nothing of it may be recorded
 */
export function thrownEnding(attempt: Attempt, thrown: unknown): Ending {
  // Code that does not fit the ledger is no failure of the tool: nothing of it is recorded.
  if (leavesOpen(thrown)) throw thrown;
  return attempt.scope.aborted ? abandonedEnding(attempt) : classifiedEnding(attempt, thrown);
}

/** Returns the ending of a tool that threw, by the class of its error. */
export function classifiedEnding({ tool, stage, ports }: Attempt, thrown: unknown): Ending {
  const { result, effect, retryAfterMs } = classifyThrown(thrown, ports.clock.now(), tool.classify);
  return stage === 'finish'
    ? unfinishedEnding(tool.name, result)
    : { result, effect, retryAfterMs, next: undefined };
}

/** Returns the ending of a tool that did not stop after its abort. */
export function abandonedEnding({ tool, stage, scope, timer }: Attempt): Ending {
  const { reason } = scope;
  const result =
    reason?.code === 'timeout'
      ? timedOut(tool.name, timer.timeoutMs)
      : cancelledWhileRunning(reason?.message);
  return stage === 'finish' ? unfinishedEnding(tool.name, result) : endingWith(result, 'unknown');
}

/**
 * Ending of a tool that did its work before something else failed. The call is settled, and
 * nothing is done again.
 */
function unfinishedEnding(tool: string, why: ToolResult): Ending {
  return endingWith(doneButNotFinished(tool, why), undefined);
}

/**
 * True for a runnable. A returned value may throw when it is inspected, and that never fails the
 * tool.
 */
export function isHandoff(value: unknown): value is Runnable {
  try {
    return isRunnable(value);
  } catch {
    return false;
  }
}
