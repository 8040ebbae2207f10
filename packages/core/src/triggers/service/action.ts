import type { JsonObject, JsonValue } from '../../base/json.ts';
import { type Step, step } from '../../runnables/step.ts';
import type { EffectOptions } from '../../session/body-context.ts';

/** Circumstances of a firing, as the work that it starts gets them in `ctx.input.data`. */
export type TriggerContext = {
  /** Name of the trigger. */
  readonly trigger: string;
  readonly kind: 'schedule' | 'event' | 'condition' | 'webhook' | 'manual';
  /** Epoch milliseconds for which it fires. */
  readonly instant: number;
  /** True when it fires later than its tolerance allows. */
  readonly missed?: boolean;
  /** Due instants that this firing stands for. */
  readonly standsFor?: number;
  readonly instruction?: string;
  /** The event, the delivery, or what the check of a condition saw. */
  readonly about?: JsonObject;
};

/** Options of `action`. */
export interface ActionOptions {
  readonly name: string;
  readonly description?: string;
  /**
   * Options of its effect: `recovery` says what becomes of it when a process ends during it.
   * @default as other effects
   */
  readonly effect?: EffectOptions;
  /**
   * The work, without a model. It is recorded as one effect under an idempotency key; its result is
   * JSON, or becomes it, and is the output.
   */
  readonly execute: (
    context: TriggerContext,
    effect: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ) => unknown;
}

/**
 * Makes a runnable for a trigger that needs no model: for work that is fixed or frequent.
 * @example
 * ```ts
 * import { action, every, trigger } from 'adjutant/triggers';
 *
 * const tidy = action({ name: 'tidy', execute: () => 'nothing to tidy' });
 * const hourly = trigger({ name: 'hourly', on: every('1h'), start: tidy });
 * console.log(hourly.declaration.start); // 'tidy'
 * ```
 */
export function action({
  effect: how,
  execute,
  ...options
}: ActionOptions): Step<JsonValue | undefined> {
  return step({
    ...options,
    execute: async (ctx) => {
      const context = (ctx.input as { readonly data: TriggerContext }).data;
      const output = await ctx.effect('action', (effect) => execute(context, effect), how);
      return ctx.complete(output as JsonValue);
    },
  }) as Step<JsonValue | undefined>;
}
