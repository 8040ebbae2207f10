import type { ToolEffect, ToolResult } from '../../ledger/tool-result.ts';
import type { EffectProbeResult } from '../../session/body-context.ts';
import { classifyThrown } from '../../tools/classify.ts';
import { toolResult } from '../../tools/result.ts';
import { effectNotKnown } from './result-texts.ts';

/** End of an attempt of an effect. */
export interface Ending {
  readonly result: ToolResult;
  /** Missing when the effect did its work. */
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
}

/** Returns the ending that a piece of work came to. */
export function endingOf(settled: PromiseSettledResult<unknown>, now: number): Ending {
  if (settled.status === 'fulfilled')
    return {
      result: toolResult.success(settled.value),
      effect: undefined,
      retryAfterMs: undefined,
    };
  const { result, effect, retryAfterMs } = classifyThrown(settled.reason, now);
  return { result, effect, retryAfterMs };
}

/** Returns the ending of an attempt that may have had its effect. */
export function unknownEnding(result: ToolResult): Ending {
  return { result, effect: 'unknown', retryAfterMs: undefined };
}

/**
 * Returns the ending that a probe found for an attempt.
 * @param ifNot the ending of an attempt that did not take place
 */
export function probedEnding(
  first: PromiseSettledResult<unknown>,
  ifNot: Ending,
  now: number,
): Ending {
  if (first.status === 'rejected')
    return unknownEnding(
      effectNotKnown(`its probe failed: ${String(endingOf(first, now).result.content)}`),
    );
  const found = first.value as EffectProbeResult | undefined;
  if (found?.happened === true)
    return {
      result: toolResult.success(found.result),
      effect: undefined,
      retryAfterMs: undefined,
    };
  if (found?.happened === false) return ifNot;
  return unknownEnding(effectNotKnown(found?.detail ?? 'its probe could not find out.'));
}
