import type { CancelScope } from '../../base/cancel-scope.ts';
import type { RunContext } from './run-context.ts';

/** Resolves at a time in epoch milliseconds, or when the scope is aborted. */
export async function sleepUntil(
  { run, scope }: { readonly run: Pick<RunContext, 'app'>; readonly scope: CancelScope },
  at: number,
): Promise<void> {
  const ms = at - run.app.clock.now();
  if (ms <= 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = run.app.clock.setTimer(ms, resolve);
  const forget = scope.onAbort(() => resolve());
  await promise;
  cancel();
  forget();
}
