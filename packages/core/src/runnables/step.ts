import type { JsonValue } from '../base/json.ts';
import { isFunction, isObject, isOneOf, isText, type OptionChecks } from '../base/options.ts';
import type { InvocationInput } from '../ledger/event.ts';
import type { BodyContext } from '../session/body-context.ts';
import type { Runnable } from '../session/runnable.ts';
import type { StateSchema } from '../session/state-types.ts';
import { checkDefinition, InvalidDefinitionError } from './errors.ts';

/** The explicit end of a step, made by the methods of its context. */
export type StepSignal =
  | { readonly signal: 'skip' }
  | { readonly signal: 'respond'; readonly text: string }
  | { readonly signal: 'fail'; readonly message: string }
  | { readonly signal: 'complete'; readonly value: JsonValue; readonly key: string | undefined };

export interface StepContext<Schema extends StateSchema = StateSchema> extends BodyContext<Schema> {
  /** The input of the caller. */
  readonly input: InvocationInput | undefined;
  /** Ends the step without output. */
  skip(): StepSignal;
  /** Writes a message of the assistant and ends the step with it. */
  respond(text: string): StepSignal;
  /** Ends the step as an error. */
  fail(message: string): StepSignal;
  /** Ends the step with a value, written to session state under `key` if one is given. */
  complete(value: JsonValue, key?: string): StepSignal;
  /** Ends the step and lets `target` continue in its place, with a message if one is given. */
  transfer(target: Runnable, message?: string): StepTransfer;
}

export interface StepTransfer {
  readonly signal: 'transfer';
  readonly target: Runnable;
  readonly message: string | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a body that just falls through is the usual one
export type StepReturn = void | undefined | StepSignal | StepTransfer | Runnable;

export interface StepOptions<Schema extends StateSchema> {
  readonly name: string;
  readonly description?: string;
  /**
   * The body. It may run more than once: after a stop it runs again from the top, with the recorded
   * results of its children. A returned runnable continues in the step's place.
   */
  readonly execute: (ctx: StepContext<Schema>) => StepReturn | Promise<StepReturn>;
  readonly version?: string;
  /** Types the state that the step uses, and checks what it writes. */
  readonly stateSchema?: Schema;
  /**
   * Reaction of a continued step to a recorded child or effect that the body no longer asks for.
   * @default 'fail'
   */
  readonly onDrift?: 'fail' | 'accept';
}

/** TypeScript code as a part of a run. */
export interface Step extends Runnable<JsonValue> {
  readonly kind: 'step';
  readonly execute: (ctx: StepContext) => StepReturn | Promise<StepReturn>;
  readonly stateSchema: StateSchema | undefined;
  readonly onDrift: 'fail' | 'accept';
}

const stepOptions: OptionChecks<StepOptions<StateSchema>> = {
  name: isText,
  description: isText,
  execute: isFunction,
  version: isText,
  stateSchema: isObject,
  onDrift: isOneOf('fail', 'accept'),
};

/**
 * Defines a step.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { runtime, step } from 'adjutant';
 *
 * const greet = step({
 *   name: 'greet',
 *   execute: async (ctx) => {
 *     const name = await ctx.effect('name', async () => 'Ann');
 *     ctx.complete(`Hello ${name}`);
 *   },
 * });
 * console.log((await runtime({ app: 'hello' }).run(greet)).output); // 'Hello Ann'
 * ```
 */
export function step<Schema extends StateSchema = StateSchema>(options: StepOptions<Schema>): Step {
  checkDefinition<StepOptions<StateSchema>>(
    'step',
    options as unknown as StepOptions<StateSchema>,
    stepOptions,
  );
  if (typeof options.execute !== 'function')
    throw new InvalidDefinitionError({
      kind: 'step',
      name: options.name,
      reason: '`execute` must be a function',
    });
  return Object.freeze({
    kind: 'step' as const,
    name: options.name,
    version: options.version,
    description: options.description,
    execute: options.execute as unknown as Step['execute'],
    stateSchema: options.stateSchema,
    onDrift: options.onDrift ?? 'fail',
  });
}
