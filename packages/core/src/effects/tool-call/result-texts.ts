import { defined } from '../../base/defined.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import { toolResult } from '../../tools/result.ts';

/** Result for the model when the effect of a call is unknown. */
export function unknownOutcome(why: string): ToolResult {
  return toolResult.unknown(
    `It is not known whether this call took effect: ${why}. It has not been repeated.`,
    {
      alternatives: ['check whether it took effect before you repeat it'],
    },
  );
}

export function timedOut(name: string, afterMs: number): ToolResult {
  return toolResult.timeout(
    `The tool ${name} did not finish within ${afterMs} ms and was stopped.`,
    {
      alternatives: ['ask for less at a time', 'try it another way'],
    },
  );
}

/** Result of an attempt whose time was over while the attempt was being recorded. */
export function timedOutBefore(name: string, afterMs: number): ToolResult {
  return toolResult.timeout(
    `The tool ${name} was not run: its ${afterMs} ms were over before it could begin.`,
  );
}

export function prepareTimedOut(name: string, afterMs: number): ToolResult {
  return toolResult.timeout(
    `The tool ${name} was not run: preparing its arguments took more than ${afterMs} ms.`,
  );
}

/** Result of a tool that did its work and then failed at something else. */
export function doneButNotFinished(name: string, why: ToolResult): ToolResult {
  return toolResult.permanent(
    `The tool ${name} has done its work, but its result could not be finished: ` +
      `${String(why.content)}`,
    {
      ...defined({ errorType: why.errorType, detail: why.detail }),
      alternatives: ['find out what it did before you call it again'],
    },
  );
}

export function cancelledWhileRunning(why: string | undefined): ToolResult {
  const reason = why === undefined ? '' : `: ${why.replace(/\.$/, '')}`;
  return toolResult.unknown(`The call was cancelled while the tool was running${reason}.`, {
    errorType: 'cancelled',
  });
}

/** Result of a call that a cancelled run had not begun. */
export function cancelledBefore(): ToolResult {
  return toolResult.blocked('The call was cancelled before the tool was run.', {
    errorType: 'cancelled',
  });
}

/** Result of an attempt that was open when its run was cancelled. */
export function cancelledMeanwhile(): ToolResult {
  return toolResult.unknown('The call was cancelled while the tool was running.', {
    errorType: 'cancelled',
  });
}

/** Result of an attempt that is made again because its process stopped. */
export function interrupted(): ToolResult {
  return toolResult.unknown('The process stopped while the tool was running.', {
    errorType: 'interrupted',
  });
}

/** Result for the model when every attempt of a repeatable tool lost its process. */
export function interruptedTooOften(name: string, times: number): ToolResult {
  return toolResult.unknown(
    `The process stopped ${times} times while the tool ${name} was running. It is not run ` +
      'again, and it is not known whether it took effect.',
    {
      errorType: 'interrupted',
      alternatives: ['check whether it took effect before you repeat it', 'try it another way'],
    },
  );
}

/** Result for the model when it repeats a call with an unknown effect. */
export function repeatRefused(name: string, earlier: string): ToolResult {
  return toolResult.blocked(
    `The tool ${name} was not run: an earlier call with the same arguments (${earlier}) ` +
      'may have taken effect. Check first whether it did.',
    {
      errorType: 'unknown_unresolved',
      alternatives: [
        'check whether the earlier call took effect',
        'tell the user that the outcome is not known',
      ],
    },
  );
}

/** Result of an action of the text protocol that could not be read. */
export function unreadable(args: unknown): ToolResult {
  const problem = (args as { problem?: unknown } | null)?.problem;
  const why = typeof problem === 'string' ? `: ${problem}` : '';
  return toolResult.permanent(`The answer could not be read as an action${why}.`, {
    errorType: 'unreadable_action',
  });
}

/** Result for the model when a person rejected a call. */
export function requestRejected(reason: string | undefined): ToolResult {
  return toolResult.blocked(
    `User cancelled this action.${reason === undefined ? '' : ` Reason: ${reason}`}`,
    { errorType: 'rejected' },
  );
}

/** Result for the model when nobody answered a request in time. */
export function requestExpired(): ToolResult {
  return toolResult.blocked('This action was not carried out: nobody answered in time.', {
    errorType: 'expired',
  });
}

/** Result for the model when an operation elsewhere did not report its result in time. */
export function operationExpired(operationId: string): ToolResult {
  return toolResult.unknown(
    `It is not known whether the operation ${operationId} was carried out: its result did ` +
      'not come in time.',
    {
      errorType: 'expired',
      alternatives: ['check whether it took effect before you repeat it'],
    },
  );
}

/** Result of an attempt that, as a person or a probe found out, had no effect. */
export function hadNoEffect(): ToolResult {
  return toolResult.unknown('It was found out that this attempt had no effect.', {
    errorType: 'no_effect',
  });
}
