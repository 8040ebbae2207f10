import { findJsonDefect, type JsonValue } from '../../../base/json.ts';
import { isRunnable, type Runnable } from '../../../session/runnable.ts';
import { unusable } from './errors.ts';
import type { HookCaller } from './hook-caller.ts';
import type { HookOrder } from './hook-order.ts';
import type { HookWrites } from './hook-writes.ts';

/** Answer or handoff that a `beforeAgent` hook gave, with the name of its owner. */
export type BeforeAgent =
  | { readonly answer: string; readonly by: string }
  | { readonly target: Runnable; readonly by: string };

/** Hooks around the whole work of an agent: `beforeAgent` and `afterAgent`. */
export class AgentHooks {
  readonly #order: HookOrder;
  readonly #caller: HookCaller;
  readonly #writes: HookWrites;

  constructor(order: HookOrder, caller: HookCaller, writes: HookWrites) {
    this.#order = order;
    this.#caller = caller;
    this.#writes = writes;
  }

  async before(): Promise<BeforeAgent | undefined> {
    for (const { owner, hooks } of this.#order.inward) {
      const given = await this.#caller.call({
        hook: 'beforeAgent',
        owner,
        call: hooks.beforeAgent && ((ctx) => hooks.beforeAgent?.(ctx)),
      });
      if (given === undefined) continue;
      if (typeof given === 'string') return { answer: given, by: owner };
      if (isRunnable(given)) return { target: given, by: owner };
      throw unusable('beforeAgent', owner, given, 'a string or a runnable');
    }
    return undefined;
  }

  /** Returns the output as the hooks leave it. */
  async after(output: JsonValue): Promise<JsonValue> {
    let current = output;
    for (const { owner, hooks } of this.#order.outward) {
      const given: unknown = await this.#caller.call({
        hook: 'afterAgent',
        owner,
        call: hooks.afterAgent && ((ctx) => hooks.afterAgent?.(ctx, current)),
      });
      if (given === undefined) continue;
      const defect = findJsonDefect(given);
      if (defect !== undefined) throw unusable('afterAgent', owner, given, 'JSON');
      current = given as JsonValue;
      this.#writes.note(owner, 'change_output', 'afterAgent changed the output.');
    }
    return current;
  }
}
