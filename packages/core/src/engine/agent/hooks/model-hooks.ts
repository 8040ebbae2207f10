import { findJsonDefect } from '../../../base/json.ts';
import type { ModelCall, ModelResult, SubstituteAnswer } from '../../../runnables/hooks.ts';
import type { RenderContext } from '../../../runnables/render-context.ts';
import { isRunnable, type Runnable } from '../../../session/runnable.ts';
import { unusable } from './errors.ts';
import type { HookCaller } from './hook-caller.ts';
import type { HookOrder } from './hook-order.ts';
import type { HookWrites } from './hook-writes.ts';

/** Answer that a hook gave in the place of another, with the name of its owner. */
export interface Substitute {
  readonly answer: SubstituteAnswer;
  readonly by: string;
}

export type BeforeModel =
  | { readonly kind: 'prompt'; readonly prompt: RenderContext }
  | ({ readonly kind: 'answer' } & Substitute)
  | { readonly kind: 'transfer'; readonly target: Runnable; readonly by: string };

/** Hooks around a model call: `beforeModel`, `beforeCall`, `afterModel` and `onModelError`. */
export class ModelHooks {
  readonly #order: HookOrder;
  readonly #caller: HookCaller;
  readonly #writes: HookWrites;

  constructor(order: HookOrder, caller: HookCaller, writes: HookWrites) {
    this.#order = order;
    this.#caller = caller;
    this.#writes = writes;
  }

  /** Asks the hooks before a prompt is made. */
  async before(prompt: RenderContext): Promise<BeforeModel> {
    this.#caller.prepares(prompt.round);
    let current = prompt;
    for (const { owner, hooks } of this.#order.inward) {
      const given = await this.#caller.call({
        hook: 'beforeModel',
        owner,
        call: hooks.beforeModel && ((ctx) => hooks.beforeModel?.(ctx, current)),
      });
      if (given === undefined) continue;
      if (isRunnable(given)) return { kind: 'transfer', target: given, by: owner };
      if (isSubstitute(given)) return { kind: 'answer', answer: given, by: owner };
      if (!isPrompt(given))
        throw unusable(
          'beforeModel',
          owner,
          given,
          '{ stepEvents }, the prompt it was given or one made from it, or a runnable',
        );
      current = given;
    }
    return { kind: 'prompt', prompt: current };
  }

  /** Asks the middleware after a prompt was made, right before the model. */
  async beforeCall(call: ModelCall): Promise<Substitute | undefined> {
    for (const { owner, hooks } of this.#order.inward) {
      const given = await this.#caller.call({
        hook: 'beforeCall',
        owner,
        call: hooks.beforeCall && ((ctx) => hooks.beforeCall?.(ctx, call)),
      });
      if (given === undefined) continue;
      if (!isSubstitute(given)) throw unusable('beforeCall', owner, given, '{ stepEvents }');
      return { answer: given, by: hooks.name ?? owner };
    }
    return undefined;
  }

  /** Returns the answer as the hooks leave it, or the target of a handoff. */
  async after(
    result: ModelResult,
  ): Promise<{ readonly result: ModelResult; readonly target?: Runnable; readonly by?: string }> {
    let current = result;
    for (const { owner, hooks } of this.#order.outward) {
      const given = await this.#caller.call({
        hook: 'afterModel',
        owner,
        call: hooks.afterModel && ((ctx) => hooks.afterModel?.(ctx, current)),
      });
      if (given === undefined || given === current) continue;
      if (isRunnable(given)) return { result: current, target: given, by: owner };
      if (!isSubstitute(given))
        throw unusable('afterModel', owner, given, 'the result, or a runnable');
      current = given as ModelResult;
      this.#writes.note(owner, 'change_answer', "afterModel changed the model's answer.");
    }
    return { result: current };
  }

  /** Asks the hooks for an answer in the place of one that failed. */
  async onError(error: Error): Promise<Substitute | undefined> {
    for (const { owner, hooks } of this.#order.inward) {
      const given = await this.#caller.call({
        hook: 'onModelError',
        owner,
        call: hooks.onModelError && ((ctx) => hooks.onModelError?.(ctx, error)),
      });
      if (given === undefined) continue;
      if (typeof given === 'string')
        return { answer: { stepEvents: [{ type: 'assistant', text: given }] }, by: owner };
      if (!isSubstitute(given))
        throw unusable('onModelError', owner, given, 'a string or { stepEvents }');
      return { answer: given, by: owner };
    }
    return undefined;
  }
}

function isSubstitute(value: unknown): value is SubstituteAnswer {
  if (typeof value !== 'object' || value === null) return false;
  const { stepEvents } = value as Partial<SubstituteAnswer>;
  return (
    Array.isArray(stepEvents) &&
    stepEvents.every((event) =>
      event?.type === 'tool_call'
        ? typeof event.name === 'string' && findJsonDefect(event.args) === undefined
        : (event?.type === 'assistant' || event?.type === 'thought') &&
          typeof event.text === 'string',
    )
  );
}

function isPrompt(value: unknown): value is RenderContext {
  if (typeof value !== 'object' || value === null) return false;
  const { withEvents, append } = value as Partial<RenderContext>;
  return typeof withEvents === 'function' && typeof append === 'function';
}
