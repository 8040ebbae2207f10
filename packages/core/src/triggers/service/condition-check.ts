import { findJsonDefect } from '../../base/json.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { type CallLimits, limitedCall } from '../../engine/services/limited-call.ts';
import type { ConditionFunction } from '../declarations/condition.ts';
import type { ConditionCheck } from '../firings/condition-edge.ts';

/** Longest time of one check of a condition, in milliseconds. */
const longestCheckMs = 60_000;
/** Characters of the longest message that is recorded. */
const longestMessage = 1_000;

/** Checks of conditions that this process makes at the moment. */
export class RunningChecks {
  readonly #controllers = new Map<string, AbortController>();
  readonly #listeners = new Set<(key: string) => void>();

  /**
   * Calls a function during which the check of a trigger can be ended.
   * @param outer signal that ends it too
   */
  async with<Result>(
    place: TriggerPlace,
    outer: AbortSignal,
    use: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const controller = new AbortController();
    const key = keyOf(place);
    this.#controllers.set(key, controller);
    for (const listener of this.#listeners) listener(key);
    try {
      return await use(AbortSignal.any([outer, controller.signal]));
    } finally {
      if (this.#controllers.get(key) === controller) this.#controllers.delete(key);
    }
  }

  /** Ends the check of a trigger, if there is one. It has no result, and is not recorded. */
  end(place: TriggerPlace): void {
    this.#controllers.get(keyOf(place))?.abort();
    // The next check is another one, also before this one has returned.
    this.#controllers.delete(keyOf(place));
  }

  /**
   * Waits for work on a trigger, but not for a check of its condition: what comes before that is
   * recorded when it begins.
   * @returns true when a check goes on
   */
  async orBegun(place: TriggerPlace, work: Promise<unknown>): Promise<boolean> {
    const key = keyOf(place);
    const { promise: begun, resolve } = Promise.withResolvers<true>();
    const listener = (of: string): void => {
      if (of === key) resolve(true);
    };
    this.#listeners.add(listener);
    if (this.#controllers.has(key)) resolve(true);
    try {
      return await Promise.race([work.then(() => false), begun]);
    } finally {
      this.#listeners.delete(listener);
    }
  }
}

interface TriggerPlace {
  readonly tenant: string;
  readonly name: string;
}

function keyOf({ name, tenant }: TriggerPlace): string {
  return JSON.stringify([tenant, name]);
}

/**
 * Checks a condition. A check that throws, or takes too long, has failed.
 * @returns `undefined` when its signal was aborted
 */
export async function checkCondition(
  check: ConditionFunction,
  { at, ...limits }: { readonly at: number } & Omit<CallLimits, 'limitMs' | 'what'>,
): Promise<ConditionCheck | undefined> {
  try {
    const finding = await limitedCall((signal) => check({ signal }), {
      ...{ ...limits, limitMs: longestCheckMs, what: 'check' },
    });
    if (limits.signal.aborted) return undefined;
    if (typeof finding === 'boolean') return { at, met: finding };
    const { met, saw } = finding;
    const defect = saw === undefined ? undefined : findJsonDefect(saw);
    if (defect !== undefined)
      return { at, failed: `\`saw\` is no JSON: at ${defect.path} it has ${defect.found}` };
    return { at, met: met === true, ...(saw === undefined ? {} : { saw }) };
  } catch (error) {
    if (limits.signal.aborted) return undefined;
    return { at, failed: messageOf(error) };
  }
}

/** Message of anything that was thrown. */
export function messageOf(error: unknown): string {
  try {
    return cutText(error instanceof Error ? error.message : String(error), longestMessage);
  } catch {
    return 'what it threw has no message';
  }
}
