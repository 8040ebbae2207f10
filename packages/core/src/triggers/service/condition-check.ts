import type { Clock } from '../../base/clock.ts';
import type { ConditionFinding, ConditionFunction } from '../declarations/condition.ts';
import type { ConditionCheck } from '../firings/condition-edge.ts';

/** Longest time of one check of a condition, in milliseconds. */
const longestCheckMs = 60_000;

/** Checks a condition. A check that fails, or takes too long, has no result. */
export async function checkCondition(
  check: ConditionFunction,
  {
    at,
    clock,
    signal,
  }: { readonly at: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ConditionCheck> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal.addEventListener('abort', abort, { once: true });
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = clock.setTimer(longestCheckMs, () => {
      abort();
      reject(new Error(`the check took more than ${longestCheckMs} ms`));
    });
  });
  try {
    const checked = Promise.resolve(check({ signal: controller.signal }));
    const finding: ConditionFinding = await Promise.race([checked, late]);
    if (typeof finding === 'boolean') return { at, met: finding };
    const { met, saw } = finding;
    return { at, met: met === true, ...(saw === undefined ? {} : { saw }) };
  } catch (error) {
    return { at, failed: messageOf(error) };
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}

/** Message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
