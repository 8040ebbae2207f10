import { AsyncLocalStorage } from 'node:async_hooks';
import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { EffectContext } from '../../session/body-context.ts';
import type { EffectAttempt, EffectPorts, EffectRequest } from './ports.ts';

/** Milliseconds for an aborted effect to stop, before it is settled without its result. */
const graceMs = 1_000;

/** An effect that works. */
interface WorkingEffect {
  readonly ledger: Ledger;
  readonly key: string;
  readonly callId: string;
  isOver: boolean;
}

/** The effect whose work the code belongs to. It serves refusals alone. */
const workingEffect = new AsyncLocalStorage<WorkingEffect>();

/**
 * Returns the key of the effect whose work the caller belongs to; `undefined` when it belongs to
 * none of this body. The work of an effect may run something else, which has effects of its own.
 * @param childRoot path or call below which the body has its effects
 */
export function effectAround(ledger: Ledger, childRoot: string): string | undefined {
  const working = workingEffect.getStore();
  if (working === undefined || working.isOver || working.ledger !== ledger) return undefined;
  return working.callId === `${childRoot}/${working.key}` ? working.key : undefined;
}

/** Time of a piece of work, and its effect. */
interface WorkLimit extends Pick<EffectRequest, 'key' | 'callId'> {
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
  { clock, ledger, scope: outer }: Pick<EffectPorts, 'clock' | 'ledger' | 'scope'>,
  { attempt, key }: Pick<EffectAttempt, 'attempt' | 'key'>,
  limit: WorkLimit,
  work: (ctx: EffectContext) => unknown,
): Promise<Limited> {
  const scope = new CancelScope(outer);
  const why = `The effect "${limit.key}" did not finish within ${limit.timeoutMs} ms.`;
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
  const working: WorkingEffect = { ledger, key: limit.key, callId: limit.callId, isOver: false };
  const worked = workingEffect.run(working, async () => work(context));
  const ended = Promise.allSettled([worked]).then(([settled]) => {
    working.isOver = true;
    return settled;
  });
  const first = await Promise.race([ended, graceOver]);
  forget();
  cancelGrace();
  cancelTimer();
  scope.close();
  return { first, ended, reason: scope.reason };
}
