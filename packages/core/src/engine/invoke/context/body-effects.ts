import {
  findInvalidOption,
  isFunction,
  isGroup,
  isPositive,
  type OptionChecks,
} from '../../../base/options.ts';
import { retryChecks } from '../../../base/retry-options.ts';
import { InvalidEffectError } from '../../../effects/body-effect/errors.ts';
import { effectAround } from '../../../effects/body-effect/limited-work.ts';
import type { EffectRecord, EffectRequest } from '../../../effects/body-effect/ports.ts';
import { recordedEffects } from '../../../effects/body-effect/recorded-effects.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import { hasOutcome, slotMode } from '../../../ledger/folds/invocation-fold.ts';
import type { EffectOptions } from '../../../session/body-context.ts';
import type { RunContext } from '../../frame/run-context.ts';
import type { BodyOwner, BodyPlace } from './body-place.ts';

const effectChecks: OptionChecks<EffectOptions> = {
  recovery: (value) =>
    value === 'report' || value === 'rerun' || typeof value === 'function'
      ? undefined
      : "'report', 'rerun' or a function",
  timeoutMs: isPositive,
  retry: isGroup(retryChecks),
};

/**
 * Checks the key, the function and the options of an effect.
 * @throws InvalidEffectError
 */
export function assertEffect({ key, run, options }: EffectRequest): void {
  if (typeof key !== 'string')
    throw new InvalidEffectError({
      reason: "the key comes first, then the function: ctx.effect('key', () => …)",
    });
  const reason =
    isFunction(run) === undefined
      ? findInvalidOption(options, effectChecks)?.reason
      : 'what is to be done must be a function';
  if (reason !== undefined) throw new InvalidEffectError({ key, reason });
}

/**
 * Refuses acts on the context within an effect of the same body. The result of an effect is
 * recorded, so its work is not run again with its body: what it did there would be missed.
 * @throws InvalidEffectError
 */
export function assertOutsideEffect({ run, childRoot }: BodyPlace, uses: string): void {
  const key = effectAround(run.ledger, childRoot);
  if (key === undefined) return;
  const reason =
    'when the body runs again, the effect does not, and what it did there would be missed. ' +
    'Do it before the effect or after it';
  throw new InvalidEffectError({ key, uses, reason });
}

/** Returns the effects that the ledger has of a body, by id, as this execution gets them. */
export function effectsOf({ place, seqBefore }: BodyOwner): ReadonlyMap<string, EffectRecord> {
  const { run, path, childRoot } = place;
  const { invocations } = run.ledger;
  const record = invocations.byPath.get(path);
  if (record === undefined) return new Map();
  return recordedEffects({ invocations, record, childRoot, seqBefore });
}

/**
 * Returns the effects that have begun and have no result: their outcome is still to be recorded.
 */
export function openEffects(
  recorded: ReadonlyMap<string, EffectRecord>,
): { readonly id: string; readonly at: number }[] {
  return [...recorded].flatMap(([id, { attempts, settled }]) =>
    settled === undefined ? [{ id, at: attempts[0]?.at ?? 0 }] : [],
  );
}

/**
 * True when a tool call has begun a child or an effect. The call is then continued by running its
 * body again.
 */
export function hasBegunBelow(record: InvocationRecord, callId: string): boolean {
  const below = `${callId}/`;
  if (record.children.some((child) => child.startsWith(below))) return true;
  const { events } = record;
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (event?.type === 'tool_call' && event.callId === callId) return false;
    if (event?.type === 'tool_attempt' && event.callId.startsWith(below)) return true;
  }
  return false;
}

/**
 * Names an open child or effect of a tool call; `undefined` when all that the call began has ended.
 * Such a call is continued by running its tool again. Nothing but the tool would go on with the
 * open part.
 */
export function openBelow(
  { run, record }: { readonly run: Pick<RunContext, 'ledger'>; readonly record: InvocationRecord },
  callId: string,
): string | undefined {
  const { invocations } = run.ledger;
  const child = record.children.find(
    (path) =>
      path.startsWith(`${callId}/`) &&
      slotMode(invocations, path) !== 'dispatch' &&
      !hasOutcome(invocations, path),
  );
  if (child !== undefined) return `the open child "${child}"`;
  const [effect] = openEffects(recordedEffects({ invocations, record, childRoot: callId }));
  return effect === undefined ? undefined : `the open effect "${effect.id}"`;
}
