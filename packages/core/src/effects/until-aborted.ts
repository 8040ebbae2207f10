import type { CancelScope } from '../base/cancel-scope.ts';
import type { Clock } from '../base/clock.ts';

/**
 * How long code of the user that was told to stop may take to do so before it is not waited for any
 * more.
 */
const graceMs = 1_000;

/**
 * What `working` gives; `undefined`: an abort came first and then a second of grace, or `suspended`
 * did.
 */
export async function untilAborted<Value>(
  working: Promise<Value>,
  { scope, clock }: { readonly scope: CancelScope; readonly clock: Clock },
  suspended?: Promise<void>,
): Promise<{ readonly value: Value } | undefined> {
  const { promise: graceOver, resolve } = Promise.withResolvers<undefined>();
  let cancelGrace: () => void = () => undefined;
  const forget = scope.onAbort(() => {
    cancelGrace = clock.setTimer(graceMs, () => resolve(undefined));
  });
  try {
    const first = await Promise.race([
      working.then((value) => ({ value })),
      graceOver,
      suspended ?? graceOver,
    ]);
    return first ?? undefined;
  } finally {
    forget();
    cancelGrace();
  }
}
