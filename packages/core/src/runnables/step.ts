import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject, JsonValue } from '../base/json.ts';
import {
  isAnything,
  isFunction,
  isObject,
  isOneOf,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import { type AnySchema, isConvertedSchema } from '../base/schema.ts';
import type { InvocationInput } from '../ledger/event.ts';
import type { BodyContext } from '../session/body-context.ts';
import type { OutputOf, Runnable } from '../session/runnable.ts';
import type { StateSchema } from '../session/state-types.ts';
import { checkDefinition, InvalidDefinitionError } from './errors.ts';
import { resolveInput } from './input.ts';
import type {
  Approval,
  AskForApproval,
  AskForValue,
  AskOptions,
  SleepUntil,
  ValueOf,
} from './waits.ts';

export interface StepSkip {
  readonly signal: 'skip';
}

export interface StepResponse {
  readonly signal: 'respond';
  readonly text: string;
}

export interface StepFailure {
  readonly signal: 'fail';
  readonly message: string;
}

export interface StepCompletion<Value = JsonValue> {
  readonly signal: 'complete';
  readonly value: Value;
  readonly key: string | undefined;
}

/** The explicit end of a step, made by the methods of its context. It must be returned. */
export type StepSignal = StepSkip | StepResponse | StepFailure | StepCompletion;

/** Input of a step whose data has a schema. */
export interface StepInput<Data> {
  /** Message of the caller. */
  readonly message?: string;
  readonly data: Data;
}

/** The input of a step by its option `input`: the data that fits the schema, or any. */
export type StepInputOf<Input> =
  Input extends StandardSchemaV1<unknown, infer Data>
    ? StepInput<Data>
    : InvocationInput | undefined;

export interface StepContext<
  Schema extends StateSchema = StateSchema,
  Input = InvocationInput | undefined,
> extends BodyContext<Schema> {
  /**
   * The input of the step. `data` is that of the caller. In a sequence it is the output of the part
   * before, and for the first part the data of the sequence.
   */
  readonly input: Input;
  /**
   * The message that the step works on: that of the nearest caller that gave one, else the message
   * of the user that the run began with. `undefined` when there is none.
   */
  readonly message: string | undefined;
  /**
   * Asks people, and waits for their answer, in whatever process it comes: with a `schema` a value
   * that fits it, with `approval: true` an `Approval`, else a text. The run gives its session back
   * meanwhile. Questions appear where approvals of tools do: `app.requests`, HTTP, CLI, pages. A
   * question that the body no longer waits for when it ends is withdrawn.
   * @param key names the question below the step, as keys name children
   * @throws InvalidWaitError; AdjutantError with the code `question_expired` or
   * `question_rejected` when there is no answer
   * @example
   * ```ts
   * import { runtime, step } from 'adjutant';
   *
   * const publish = step({
   *   name: 'publish',
   *   execute: async (ctx) => {
   *     const { approved } = await ctx.ask('publish', {
   *       message: 'Publish the report?',
   *       approval: true,
   *     });
   *     return ctx.complete(approved);
   *   },
   * });
   * const app = runtime({ app: 'news', runnables: [publish] });
   * const { pendingCalls, session } = await app.run(publish);
   * const [asked] = pendingCalls;
   * await app.requests.answer(asked?.requestId ?? '', { decision: 'approve', by: 'user:ann' });
   * console.log((await app.resume(session)).output); // true
   * ```
   */
  ask(key: string, question: AskForApproval): Promise<Approval>;
  ask<Asked extends AnySchema>(key: string, question: AskForValue<Asked>): Promise<ValueOf<Asked>>;
  ask(key: string, question: AskOptions | string): Promise<string>;
  /**
   * Waits so many milliseconds, or until an instant, by the clock of the store. The end is recorded
   * with the start: it stays as it is when the body runs again, also in another process. A run that
   * only sleeps gives its session back, and is continued when the time has come.
   * @param key names the sleep below the step, as keys name children
   * @throws InvalidWaitError
   * @example
   * ```ts
   * import { step } from 'adjutant';
   *
   * const remind = step({
   *   name: 'remind',
   *   execute: async (ctx) => {
   *     await ctx.sleep('until tomorrow', 24 * 3_600_000);
   *     await ctx.effect('mail', () => 'sent');
   *   },
   * });
   * console.log(remind.name);
   * ```
   */
  sleep(key: string, time: number | SleepUntil): Promise<void>;
  /** Ends the step without output. */
  skip(): StepSkip;
  /** Writes a message of the assistant and ends the step with it. */
  respond(text: string): StepResponse;
  /** Ends the step as an error. */
  fail(message: string): StepFailure;
  /** Ends the step with a value, written to session state under `key` if one is given. */
  complete<Value>(value: Value, key?: string): StepCompletion<Value>;
  /** Ends the step and lets `target` continue in its place, with a message if one is given. */
  transfer<Target extends Runnable>(target: Target, message?: string): StepTransfer<Target>;
}

export interface StepTransfer<Target extends Runnable = Runnable> {
  readonly signal: 'transfer';
  readonly target: Target;
  readonly message: string | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a body that just falls through is the usual one
export type StepReturn = void | undefined | StepSignal | StepTransfer | Runnable;

/** The output of a step by the values that its body returns. */
export type StepOutput<Returned> =
  Returned extends StepCompletion<infer Value>
    ? Value
    : Returned extends StepResponse
      ? string
      : Returned extends StepFailure
        ? never
        : Returned extends StepTransfer<infer Target>
          ? OutputOf<Target>
          : Returned extends Runnable
            ? OutputOf<Returned>
            : undefined;

/**
 * `Returned` is what the body returns: the type of the output follows from it. `Schema` types the
 * state, `Input` is the option `input`.
 */
export interface StepOptions<
  Schema extends StateSchema = StateSchema,
  Returned extends StepReturn = StepReturn,
  Input extends AnySchema | undefined = AnySchema | undefined,
  Name extends string = string,
> {
  readonly name: Name;
  readonly description?: string;
  /**
   * The body. It may run more than once: after a stop it runs again from the top, with the recorded
   * results of its children. A returned runnable continues in the step's place.
   */
  readonly execute: (
    ctx: StepContext<Schema, StepInputOf<Input>>,
    // The last one types what is returned without an inferred type, such as `new Promise(…)`.
  ) => Returned | Promise<Returned> | Promise<StepReturn>;
  /**
   * Schema of `ctx.input.data`, for data of callers, of `run({ data })` and of the part before it
   * in a sequence. Data that does not fit is refused with `invalid_input`.
   * @default anything, or nothing
   */
  readonly input?: Input;
  readonly version?: string;
  /** Types the state that the step uses, and checks what it writes. */
  readonly stateSchema?: Schema;
  /**
   * Reaction of a continued step to a recorded child or effect that the body no longer asks for.
   * @default 'fail'
   */
  readonly onDrift?: 'fail' | 'accept';
  /**
   * `false` declares that the body does nothing outside but by `ctx`: by `ctx.effect`, `ctx.call`
   * and their kin. Replays and `checkSessions` run such a body without a warning.
   */
  readonly effects?: false;
}

declare const dataType: unique symbol;

/** The type of the data that a schema takes; `unknown` for JSON Schema and without a schema. */
type DataFor<Input> = Input extends StandardSchemaV1<infer Data, unknown> ? Data : unknown;

/** The type of the data that a runnable takes by its schema; `unknown` for any. */
export type DataOf<R> = R extends { readonly [dataType]?: infer Data } ? Data : unknown;

/** TypeScript code as a part of a run. `Data` is the type of the data that its schema takes. */
export interface Step<Output = JsonValue | undefined, Name extends string = string, Data = unknown>
  extends Runnable<Output, Name> {
  readonly [dataType]?: Data;
  readonly kind: 'step';
  readonly execute: (ctx: StepContext) => StepReturn | Promise<StepReturn>;
  readonly input: AnySchema | undefined;
  /** JSON Schema of `input`, as models are shown it. */
  readonly inputSchema: JsonObject | undefined;
  readonly stateSchema: StateSchema | undefined;
  readonly onDrift: 'fail' | 'accept';
  /** Missing: the body may do things outside by itself. */
  readonly effects?: false;
}

/** Members that `step` adds. A definition may be spread into the options of a new one. */
const addedMembers: OptionChecks<Pick<Step, 'inputSchema'>> = {
  inputSchema: isConvertedSchema('input'),
};

const stepOptions: OptionChecks<StepOptions> = {
  name: isText,
  description: isText,
  execute: isFunction,
  input: isAnything,
  version: isText,
  stateSchema: isObject,
  onDrift: isOneOf('fail', 'accept'),
  effects: (value) =>
    value === false ? undefined : 'false, or left out when the body does things outside by itself',
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
 *     return ctx.complete(`Hello ${name}`);
 *   },
 * });
 * console.log((await runtime({ app: 'hello' }).run(greet)).output); // 'Hello Ann'
 * ```
 */
export function step<
  Schema extends StateSchema = StateSchema,
  Returned extends StepReturn = StepReturn,
  Input extends AnySchema | undefined = undefined,
  const Name extends string = string,
>(
  typed: StepOptions<Schema, Returned, Input, Name>,
): Step<StepOutput<Returned>, Name, DataFor<Input>> {
  // The types of the output, the input and the state are for the caller only.
  const options = typed as unknown as StepOptions;
  checkDefinition<StepOptions>('step', options, stepOptions, addedMembers);
  if (typeof options.execute !== 'function')
    throw new InvalidDefinitionError({
      kind: 'step',
      name: options.name,
      reason: '`execute` must be a function',
    });
  const made: Step = Object.freeze({
    kind: 'step' as const,
    name: options.name,
    version: options.version,
    description: options.description,
    execute: options.execute as Step['execute'],
    ...resolveInput('step', options),
    stateSchema: options.stateSchema,
    onDrift: options.onDrift ?? 'fail',
    ...(options.effects === false ? { effects: false as const } : {}),
  });
  return made as Step<StepOutput<Returned>, Name, DataFor<Input>>;
}
