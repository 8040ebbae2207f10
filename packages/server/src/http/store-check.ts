import type { Runtime } from 'adjutant';
import type { Clock } from 'adjutant/ports';

/** Milliseconds in which a store that is well has answered. */
const deadlineMs = 2_000;
/** Milliseconds for which an answer is good: anybody may ask, and must not keep the store busy. */
const goodForMs = 1_000;

/** Checks that the store of an app answers in time, at most once a second. */
export function storeCheck(
  { store, tenant, app }: Pick<Runtime, 'store' | 'tenant' | 'app'>,
  clock: Clock,
): () => Promise<boolean> {
  let last: { readonly at: number; readonly answers: Promise<boolean> } | undefined;
  return () => {
    const at = clock.monotonic();
    if (last === undefined || at - last.at >= goodForMs)
      last = {
        at,
        answers: answersInTime(() => store.for({ tenant, app }).list({ limit: 1 }), clock),
      };
    return last.answers;
  };
}

async function answersInTime(ask: () => Promise<unknown>, clock: Clock): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const cancel = clock.setTimer(deadlineMs, () => resolve(false));
  try {
    return await Promise.race([ask().then(() => true), late]);
  } catch {
    return false;
  } finally {
    cancel();
  }
}
