import { AsyncLocalStorage } from 'node:async_hooks';
import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import type { EffectContext } from '../../session/body-context.ts';
import type { EffectAttempt, EffectPorts } from './ports.ts';

/** Milliseconds for an aborted effect to stop, before it is settled without its result. */
const graceMs = 1_000;

/** True in code that an effect runs. It serves messages alone. */
const insideEffect = new AsyncLocalStorage<true>();

/** True when the caller is the work of an effect. */
export function isInsideEffect(): boolean {
  return insideEffect.getStore() === true;
}

/** Time of a piece of work, and the name of its effect for the message when it is over. */
interface WorkLimit {
  readonly name: string;
  readonly timeLeftMs: number;
  /** Time of a whole attempt, which the message tells. */
  readonly timeoutMs: number;
}

/** End of a piece of work within its time. */
export interface Limited {
  readonly first: PromiseSettledResult<unknown> | undefined;
  /** End of the work, however late it comes. */
  readonly ended: Promise<PromiseSettledResult<unknown>>;
  /** Reason of the abort, if there was one. */
  readonly reason: AbortReason | undefined;
}

/**
 * Runs work until its time is over, and then a second of grace. `first` is missing when the work
 * went on beyond that.
 */
export async function limitedWork(
  { clock, scope: outer }: Pick<EffectPorts, 'clock' | 'scope'>,
  { attempt, key }: Pick<EffectAttempt, 'attempt' | 'key'>,
  limit: WorkLimit,
  work: (ctx: EffectContext) => unknown,
): Promise<Limited> {
  const scope = new CancelScope(outer);
  const why = `The effect "${limit.name}" did not finish within ${limit.timeoutMs} ms.`;
  const cancelTimer = clock.setTimer(limit.timeLeftMs, () =>
    scope.abort(new AbortReason('timeout', why)),
  );
  const { promise: graceOver, resolve } = Promise.withResolvers<undefined>();
  let cancelGrace: () => void = () => undefined;
  const forget = scope.onAbort(() => {
    cancelGrace = clock.setTimer(graceMs, () => resolve(undefined));
  });
  const context: EffectContext = {
    idempotencyKey: key,
    attempt,
    get signal() {
      return scope.signal;
    },
  };
  const ended = Promise.allSettled([insideEffect.run(true, async () => work(context))]).then(
    ([settled]) => settled,
  );
  const first = await Promise.race([ended, graceOver]);
  forget();
  cancelGrace();
  cancelTimer();
  scope.close();
  return { first, ended, reason: scope.reason };
}
