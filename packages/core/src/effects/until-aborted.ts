import type { CancelScope } from '../base/cancel-scope.ts';
import type { Clock } from '../base/clock.ts';

/** Milliseconds for aborted code of the user to stop, before it is no longer awaited. */
const graceMs = 1_000;

/**
 * Returns the value of `working`. `undefined`: an abort and then a second of grace came first, or
 * `released` did.
 */
export async function untilAborted<Value>(
  working: Promise<Value>,
  { scope, clock }: { readonly scope: CancelScope; readonly clock: Clock },
  released?: Promise<void>,
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
      released ?? graceOver,
    ]);
    return first ?? undefined;
  } finally {
    forget();
    cancelGrace();
  }
}
