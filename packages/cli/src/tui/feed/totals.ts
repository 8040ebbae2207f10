import type { EventOf } from 'adjutant';

/** Usage of a run or a session. */
export interface Totals {
  readonly rounds: number;
  readonly tokens: number;
  readonly cost: number;
  /** True when a model was used whose price is not known. */
  readonly isCostUnknown: boolean;
}

export const noTotals: Totals = { rounds: 0, tokens: 0, cost: 0, isCostUnknown: false };

export function withUsage(totals: Totals, event: EventOf<'model_end'>): Totals {
  const { usage, cost, status } = event;
  return {
    rounds: totals.rounds + (status === 'completed' ? 1 : 0),
    tokens: totals.tokens + usage.inputTokens + usage.outputTokens,
    cost: totals.cost + (cost ?? 0),
    isCostUnknown: totals.isCostUnknown || (cost === undefined && usage.inputTokens > 0),
  };
}

/** What was used since a time at which the usage was `before`. */
export function usageSince(now: Totals, before: Totals): Totals {
  return {
    rounds: now.rounds - before.rounds,
    tokens: now.tokens - before.tokens,
    cost: now.cost - before.cost,
    isCostUnknown: now.isCostUnknown,
  };
}
