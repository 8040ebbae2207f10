import type { JsonValue } from '../../base/json.ts';

/** State of a condition between its checks, as plain JSON. A restart goes on from it. */
export interface ConditionState {
  /** True when the last check that had a result found the condition met. */
  readonly met: boolean;
  /** Instant of the last check, in epoch milliseconds. */
  readonly checkedAt: number;
  /** The value that the last check with a result saw. */
  readonly saw?: JsonValue | undefined;
}

/** Result of a check of a condition. */
export type ConditionCheck =
  | { readonly at: number; readonly met: boolean; readonly saw?: JsonValue | undefined }
  | { readonly at: number; readonly failed: string };

/**
 * Meaning of a check.
 * - `became_true`: the condition is met and was not: the trigger fires.
 * - `stayed_true`, `became_false`, `stayed_false`: it does not fire.
 * - `failed`: the check had no result. What was known before stays.
 * - `stale`: a later check was seen before. Nothing changes.
 */
export type ConditionChange =
  | 'became_true'
  | 'stayed_true'
  | 'became_false'
  | 'stayed_false'
  | 'failed'
  | 'stale';

/** Outcome of a check. */
export interface ConditionOutcome {
  readonly change: ConditionChange;
  readonly fires: boolean;
  readonly state: ConditionState;
}

/**
 * Folds a check into the state of a condition. A trigger fires on the change from false to true;
 * before the first check the condition counts as false.
 */
export function conditionEdge(
  state: ConditionState | undefined,
  check: ConditionCheck,
): ConditionOutcome {
  const before = state ?? { met: false, checkedAt: Number.NEGATIVE_INFINITY };
  if (state !== undefined && check.at <= state.checkedAt)
    return { change: 'stale', fires: false, state };
  if ('failed' in check)
    return { change: 'failed', fires: false, state: { ...before, checkedAt: check.at } };
  const { at, met, saw } = check;
  const change = before.met === met ? (`stayed_${met}` as const) : (`became_${met}` as const);
  const seen = saw === undefined ? {} : { saw };
  return { change, fires: change === 'became_true', state: { met, checkedAt: at, ...seen } };
}
