import { type CallLimits, limitedCall } from '../../engine/services/limited-call.ts';
import type { ConditionFunction } from '../declarations/condition.ts';
import type { ConditionCheck } from '../firings/condition-edge.ts';

/** Longest time of one check of a condition, in milliseconds. */
const longestCheckMs = 60_000;

/** Checks a condition. A check that fails, or takes too long, has no result. */
export async function checkCondition(
  check: ConditionFunction,
  { at, ...limits }: { readonly at: number } & Omit<CallLimits, 'limitMs' | 'what'>,
): Promise<ConditionCheck> {
  try {
    const finding = await limitedCall((signal) => check({ signal }), {
      ...{ ...limits, limitMs: longestCheckMs, what: 'check' },
    });
    if (typeof finding === 'boolean') return { at, met: finding };
    const { met, saw } = finding;
    return { at, met: met === true, ...(saw === undefined ? {} : { saw }) };
  } catch (error) {
    return { at, failed: messageOf(error) };
  }
}

/** Message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
