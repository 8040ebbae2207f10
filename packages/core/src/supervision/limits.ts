import type { StopReason } from '../ledger/event.ts';

/** What has been used, of one agent invocation or of a whole run. */
export interface Consumption {
  readonly rounds: number;
  readonly tokens: number;
  /** US dollars, as far as prices are known. */
  readonly cost: number;
}

export interface ConsumptionLimits {
  readonly rounds: number | undefined;
  readonly tokens: number | undefined;
  readonly cost: number | undefined;
}

/** A limit with what was used of it. */
export interface LimitState {
  readonly reason: StopReason;
  readonly used: number;
  readonly limit: number;
}

/** Share of a limit at which it is warned of, once. */
const warningShare = 0.9;

const reasons = { rounds: 'round_limit', tokens: 'token_limit', cost: 'cost_limit' } as const;

function states(used: Consumption, limits: ConsumptionLimits): LimitState[] {
  const found: LimitState[] = [];
  for (const kind of ['rounds', 'tokens', 'cost'] as const) {
    const limit = limits[kind];
    if (limit !== undefined) found.push({ reason: reasons[kind], used: used[kind], limit });
  }
  return found;
}

/** The first limit that leaves no room for another model call. */
export function exhaustedLimit(used: Consumption, limits: ConsumptionLimits): LimitState | undefined {
  if (limits.rounds !== undefined && used.rounds >= limits.rounds) return { reason: 'round_limit', used: used.rounds, limit: limits.rounds };
  if (limits.tokens !== undefined && used.tokens >= limits.tokens) return { reason: 'token_limit', used: used.tokens, limit: limits.tokens };
  if (limits.cost !== undefined && used.cost >= limits.cost) return { reason: 'cost_limit', used: used.cost, limit: limits.cost };
  return undefined;
}

/** Token and cost limits that are nearly used up. Rounds are not warned of: the model cannot do anything about them. */
export function nearLimits(used: Consumption, limits: ConsumptionLimits): readonly LimitState[] {
  if (limits.tokens === undefined && limits.cost === undefined) return [];
  return states(used, limits).filter(({ reason, used: spent, limit }) => reason !== 'round_limit' && spent >= limit * warningShare);
}
