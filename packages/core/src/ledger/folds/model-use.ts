import type { EventOf, Usage } from '../event.ts';

/** Usage of model calls. */
export interface ModelUse {
  /** Calls that were answered. */
  readonly calls: number;
  readonly usage: Required<Usage>;
  /** US dollars of the calls whose price is known. */
  readonly cost: number;
  /** Calls that used tokens and whose price is not known: they are not in `cost`. */
  readonly unpriced: number;
  /** Calls whose tokens were not reported but estimated. */
  readonly estimated: number;
}

/** Before the first call. */
export const noUse: ModelUse = Object.freeze({
  calls: 0,
  usage: Object.freeze({
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }),
  cost: 0,
  unpriced: 0,
  estimated: 0,
});

/** The use with one more call, whether it was answered or failed. */
export function useWith(
  use: ModelUse,
  { usage, cost, status, estimated }: EventOf<'model_end'>,
): ModelUse {
  const isUsed = usage.inputTokens > 0 || usage.outputTokens > 0;
  return useOfBoth(use, {
    calls: status === 'completed' ? 1 : 0,
    usage: { ...noUse.usage, ...usage },
    cost: cost ?? 0,
    unpriced: isUsed && cost === undefined ? 1 : 0,
    estimated: estimated === true ? 1 : 0,
  });
}

/** Sum of two uses. */
export function useOfBoth(one: ModelUse, other: ModelUse): ModelUse {
  return {
    calls: one.calls + other.calls,
    usage: {
      inputTokens: one.usage.inputTokens + other.usage.inputTokens,
      outputTokens: one.usage.outputTokens + other.usage.outputTokens,
      cachedInputTokens: one.usage.cachedInputTokens + other.usage.cachedInputTokens,
      cacheWriteTokens: one.usage.cacheWriteTokens + other.usage.cacheWriteTokens,
      reasoningTokens: one.usage.reasoningTokens + other.usage.reasoningTokens,
    },
    cost: one.cost + other.cost,
    unpriced: one.unpriced + other.unpriced,
    estimated: one.estimated + other.estimated,
  };
}
