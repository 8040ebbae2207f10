import {
  findInvalidOption,
  isFunction,
  isGroup,
  isPositive,
  type OptionChecks,
} from '../../../base/options.ts';
import { retryChecks } from '../../../base/retry-options.ts';
import { InvalidEffectError } from '../../../effects/body-effect/errors.ts';
import type { EffectRecord, EffectRequest } from '../../../effects/body-effect/ports.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../../ledger/folds/invocation-fold.ts';
import type { EffectOptions } from '../../../session/body-context.ts';
import type { RunContext } from '../../frame/run-context.ts';

const effectChecks: OptionChecks<EffectOptions> = {
  recovery: (value) =>
    value === 'report' || value === 'rerun' || typeof value === 'function'
      ? undefined
      : "'report', 'rerun' or a function",
  timeoutMs: isPositive,
  retry: isGroup(retryChecks),
};

/**
 * Checks the function and the options of an effect.
 * @throws InvalidEffectError
 */
export function assertEffect({ key, run, options }: EffectRequest): void {
  const reason =
    isFunction(run) === undefined
      ? findInvalidOption(options, effectChecks)?.reason
      : 'what is to be done must be a function';
  if (reason !== undefined) throw new InvalidEffectError({ key, reason });
}

/**
 * Returns the recorded effects below `childRoot`, by their ids. The search begins at the call:
 * nothing of its effects stands before it.
 */
export function recordedEffects(
  record: InvocationRecord | undefined,
  childRoot: string,
): Map<string, EffectRecord> {
  const found = new Map<string, EffectRecord>();
  if (record === undefined) return found;
  const { events } = record;
  for (let i = firstOf(record, childRoot); i < events.length; i++) {
    const event = events[i];
    if (
      (event?.type !== 'tool_attempt' && event?.type !== 'tool_result') ||
      !event.callId.startsWith(`${childRoot}/`)
    )
      continue;
    const effect = found.get(event.callId) ?? { attempts: [], settled: undefined };
    found.set(event.callId, effect);
    if (event.type === 'tool_attempt') {
      const { attempt, key, deadline = event.at, seq } = event;
      effect.attempts.push({ attempt, key, deadline, seq, at: event.at, result: undefined });
    } else if (event.late !== true) {
      const made = effect.attempts.find(({ attempt }) => attempt === event.attempt);
      if (made !== undefined) made.result = event;
      if (event.settled) effect.settled ??= event;
    }
  }
  return found;
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
      invocations.byPath.get(path)?.mode !== 'dispatch' &&
      !hasOutcome(invocations, path),
  );
  if (child !== undefined) return `the open child "${child}"`;
  const [effect] = openEffects(recordedEffects(record, callId));
  return effect === undefined ? undefined : `the open effect "${effect.id}"`;
}

/** Returns the index of the first event of a call. The events of a step begin with it. */
function firstOf({ path, events }: InvocationRecord, childRoot: string): number {
  if (childRoot === path) return 0;
  return Math.max(
    0,
    events.findLastIndex((event) => event.type === 'tool_call' && event.callId === childRoot),
  );
}
