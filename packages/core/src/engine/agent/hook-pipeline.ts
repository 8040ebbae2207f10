import type { LanguageModelV4 } from '@ai-sdk/provider';
import { AdjutantError, toErrorRecord } from '../../base/error.ts';
import {
  coerceToJson,
  findJsonDefect,
  isPlainObject,
  type JsonObject,
  type JsonValue,
} from '../../base/json.ts';
import { describeValue } from '../../base/options.ts';
import { untilAborted } from '../../effects/until-aborted.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { Agent } from '../../runnables/agent.ts';
import type {
  ErrorAction,
  ErrorContext,
  ErrorHandler,
  HookContext,
  Hooks,
  HookToolCall,
  Middleware,
  ModelCall,
  ModelResult,
  SubstituteAnswer,
} from '../../runnables/hooks.ts';
import type { RenderContext, Renderer } from '../../runnables/render-context.ts';
import { isRunnable, type Runnable } from '../../session/runnable.ts';
import { createState, type StateAccess } from '../../session/scoped-state.ts';
import { toolResult, toToolResult } from '../../tools/result.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { BodyState } from '../invoke/body-state.ts';

/** Error of a hook, a middleware or an error handler that threw or returned an unusable value. */
export class HookFailedError extends AdjutantError {
  constructor(data: { hook: string; owner: string; reason: string }, options?: ErrorOptions) {
    super('hook_failed', `\`${data.hook}\` of ${data.owner} failed: ${data.reason}`, data, options);
  }
}

/** Hooks with the name of their owner, as decisions show it. */
interface Owned {
  readonly owner: string;
  readonly hooks: Hooks & Partial<Middleware>;
}

/** Answer that a hook gave in the place of another, with the name of its owner. */
export interface Substitute {
  readonly answer: SubstituteAnswer;
  readonly by: string;
}

export type BeforeModel =
  | { readonly kind: 'prompt'; readonly prompt: RenderContext }
  | ({ readonly kind: 'answer' } & Substitute)
  | { readonly kind: 'transfer'; readonly target: Runnable; readonly by: string };

/**
 * Failure that error handlers are asked about: the members of `ErrorContext` that other hooks do
 * not get.
 */
export type Failure = Pick<
  ErrorContext,
  'phase' | 'error' | 'attempt' | 'retryAfterMs' | 'mayRetry' | 'call' | 'result'
>;

type HookName = keyof Hooks;
type HookNote = Extract<EventDraft, { type: 'decision' }> & { readonly data: JsonObject };

// biome-ignore lint/suspicious/noConfusingVoidType: what a hook returns that returns nothing
type Something<Value> = Exclude<Value, undefined | void>;

/**
 * Hooks, middleware and error handlers of one agent invocation, in their order. Inward: middleware
 * of the runtime, of the agent, then hooks of the runtime, of the agent. Outward: hooks of the
 * runtime, of the agent, then the middleware in reverse order.
 */
export class HookPipeline {
  readonly #frame: BodyFrame;
  readonly #agent: Agent;
  readonly #round: () => number;
  readonly #inward: readonly Owned[];
  readonly #outward: readonly Owned[];
  readonly #middleware: readonly Middleware[];
  readonly #handlers: readonly ErrorHandler[];
  readonly #writes: BodyState;
  #context: HookContext | undefined;
  /** Round that is being prepared. The position has it only after its call has begun. */
  #preparing = 0;
  #notes: HookNote[] = [];

  private constructor(agent: Agent, frame: BodyFrame, round: () => number) {
    const { app } = frame.run;
    this.#frame = frame;
    this.#agent = agent;
    this.#round = round;
    this.#middleware = [...app.middleware, ...agent.middleware];
    this.#handlers = [...app.errorHandlers, ...agent.errorHandlers];
    const around = this.#middleware.map(
      (hooks): Owned => ({ owner: `the middleware "${hooks.name}"`, hooks }),
    );
    const plain = [
      ...app.hooks.map((hooks): Owned => ({ owner: 'the runtime', hooks })),
      ...agent.hooks.map((hooks): Owned => ({ owner: `the agent "${agent.name}"`, hooks })),
    ];
    this.#inward = [...around, ...plain];
    this.#outward = [...plain, ...around.reverse()];
    const { path } = frame.record;
    this.#writes = new BodyState(frame.run, {
      path,
      childRoot: path,
      by: 'runtime',
      startedAt: frame.run.ledger.lastSeq,
    });
  }

  /**
   * Returns the pipeline of an agent; `undefined` when there are no hooks, middleware or handlers
   * to ask.
   */
  static of(agent: Agent, frame: BodyFrame, round: () => number): HookPipeline | undefined {
    const { hooks, middleware, errorHandlers } = frame.run.app;
    const own = [hooks, errorHandlers, agent.hooks, agent.middleware, agent.errorHandlers].some(
      ({ length }) => length > 0,
    );
    return own || middleware.some(concernsAgents)
      ? new HookPipeline(agent, frame, round)
      : undefined;
  }

  /** True when at least one owner has such a hook. */
  has(hook: HookName | 'beforeCall' | 'wrapModel' | 'errorHandlers'): boolean {
    if (hook === 'errorHandlers') return this.#handlers.length > 0;
    return this.#inward.some(({ hooks }) => hooks[hook] !== undefined);
  }

  /** Renderers of the middleware. They run before those of the agent. */
  get renderers(): readonly Renderer[] {
    return this.#middleware.flatMap(({ context = [] }) => context);
  }

  wrap(model: LanguageModelV4): LanguageModelV4 {
    // The first middleware is the outermost: it wraps the models of all others.
    return this.#middleware.reduceRight((inner, middleware) => wrapped(middleware, inner), model);
  }

  async beforeAgent(): Promise<
    | { readonly answer: string; readonly by: string }
    | { readonly target: Runnable; readonly by: string }
    | undefined
  > {
    for (const { owner, hooks } of this.#inward) {
      const given = await this.#call(
        'beforeAgent',
        owner,
        hooks.beforeAgent && ((ctx) => hooks.beforeAgent?.(ctx)),
      );
      if (given === undefined) continue;
      if (typeof given === 'string') return { answer: given, by: owner };
      if (isRunnable(given)) return { target: given, by: owner };
      throw unusable('beforeAgent', owner, given, 'a string or a runnable');
    }
    return undefined;
  }

  async afterAgent(output: JsonValue): Promise<JsonValue> {
    let current = output;
    for (const { owner, hooks } of this.#outward) {
      const given: unknown = await this.#call(
        'afterAgent',
        owner,
        hooks.afterAgent && ((ctx) => hooks.afterAgent?.(ctx, current)),
      );
      if (given === undefined) continue;
      const defect = findJsonDefect(given);
      if (defect !== undefined) throw unusable('afterAgent', owner, given, 'JSON');
      current = given as JsonValue;
      this.#note(owner, 'change_output', 'afterAgent changed the output.');
    }
    return current;
  }

  async beforeModel(prompt: RenderContext): Promise<BeforeModel> {
    this.#preparing = prompt.round;
    let current = prompt;
    for (const { owner, hooks } of this.#inward) {
      const given = await this.#call(
        'beforeModel',
        owner,
        hooks.beforeModel && ((ctx) => hooks.beforeModel?.(ctx, current)),
      );
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

  async beforeCall(call: ModelCall): Promise<Substitute | undefined> {
    for (const { owner, hooks } of this.#inward) {
      const given = await this.#call(
        'beforeCall',
        owner,
        hooks.beforeCall && ((ctx) => hooks.beforeCall?.(ctx, call)),
      );
      if (given === undefined) continue;
      if (!isSubstitute(given)) throw unusable('beforeCall', owner, given, '{ stepEvents }');
      return { answer: given, by: hooks.name ?? owner };
    }
    return undefined;
  }

  async afterModel(
    result: ModelResult,
  ): Promise<{ readonly result: ModelResult; readonly target?: Runnable; readonly by?: string }> {
    let current = result;
    for (const { owner, hooks } of this.#outward) {
      const given = await this.#call(
        'afterModel',
        owner,
        hooks.afterModel && ((ctx) => hooks.afterModel?.(ctx, current)),
      );
      if (given === undefined || given === current) continue;
      if (isRunnable(given)) return { result: current, target: given, by: owner };
      if (!isSubstitute(given))
        throw unusable('afterModel', owner, given, 'the result, or a runnable');
      current = given as ModelResult;
      this.#note(owner, 'change_answer', "afterModel changed the model's answer.");
    }
    return { result: current };
  }

  async onModelError(error: Error): Promise<Substitute | undefined> {
    for (const { owner, hooks } of this.#inward) {
      const given = await this.#call(
        'onModelError',
        owner,
        hooks.onModelError && ((ctx) => hooks.onModelError?.(ctx, error)),
      );
      if (given === undefined) continue;
      if (typeof given === 'string')
        return { answer: { stepEvents: [{ type: 'assistant', text: given }] }, by: owner };
      if (!isSubstitute(given))
        throw unusable('onModelError', owner, given, 'a string or { stepEvents }');
      return { answer: given, by: owner };
    }
    return undefined;
  }

  async beforeTool(call: HookToolCall): Promise<ToolResult | undefined> {
    for (const { owner, hooks } of this.#inward) {
      const given: unknown = await this.#call(
        'beforeTool',
        owner,
        hooks.beforeTool && ((ctx) => hooks.beforeTool?.(ctx, call)),
        call.callId,
      );
      if (given === undefined) continue;
      this.#note(
        owner,
        'skip_tool',
        `beforeTool gave a result in the place of ${call.name}, which was not run.`,
        { callId: call.callId },
      );
      return givenResult(given);
    }
    return undefined;
  }

  async afterTool(call: HookToolCall, result: ToolResult): Promise<ToolResult> {
    let current = result;
    for (const { owner, hooks } of this.#outward) {
      const given: unknown = await this.#call(
        'afterTool',
        owner,
        hooks.afterTool && ((ctx) => hooks.afterTool?.(ctx, call, current)),
        call.callId,
      );
      if (given === undefined || given === current) continue;
      current = givenResult(given);
      this.#note(owner, 'change_result', `afterTool changed the result of ${call.name}.`, {
        callId: call.callId,
      });
    }
    return current;
  }

  async onToolError(call: HookToolCall, result: ToolResult): Promise<ToolResult | undefined> {
    for (const { owner, hooks } of this.#inward) {
      const given: unknown = await this.#call(
        'onToolError',
        owner,
        hooks.onToolError && ((ctx) => hooks.onToolError?.(ctx, call, result)),
        call.callId,
      );
      if (given === undefined) continue;
      this.#note(
        owner,
        'replace_failure',
        `onToolError gave a result in the place of the failure of ${call.name}.`,
        { callId: call.callId },
      );
      return givenResult(given);
    }
    return undefined;
  }

  /**
   * Returns the action of the first handler that does not pass; `undefined` when all of them pass.
   */
  async handleError(
    failure: Failure,
  ): Promise<{ readonly handler: string; readonly action: ErrorAction } | undefined> {
    for (const handler of this.#handlers) {
      const owner = `the error handler "${handler.name}"`;
      const action = await this.#call(
        'handle',
        owner,
        (ctx) => {
          const context = Object.assign(Object.create(ctx), failure) as ErrorContext;
          return handler.canHandle === undefined || handler.canHandle(context)
            ? handler.handle(context)
            : undefined;
        },
        failure.call?.callId,
      );
      if (action === undefined || action.action === 'pass') continue;
      if (!isPlainObject(action) || !actions.has(action.action))
        throw unusable('handle', owner, action, `{ action: ${[...actions].join(' | ')} }`);
      return { handler: handler.name, action };
    }
    return undefined;
  }

  /**
   * Takes the state changes and decisions of hooks, to be appended with the next events.
   * @param callId id of a tool call; decisions about other calls stay, and are appended with the
   * events of those
   */
  takeWrites(callId?: string): {
    readonly drafts: readonly EventDraft[];
    readonly extras: BatchExtras | undefined;
  } {
    const isOthers = ({ data }: HookNote): boolean =>
      callId !== undefined && data['callId'] !== undefined && data['callId'] !== callId;
    const notes = this.#notes.filter((note) => !isOthers(note));
    if (notes.length > 0) this.#notes = this.#notes.filter(isOthers);
    const { drafts, extras } = this.#writes.take(
      undefined,
      callId === undefined ? {} : { call: callId },
    );
    return notes.length === 0 ? { drafts, extras } : { drafts: [...drafts, ...notes], extras };
  }

  #note(
    owner: string,
    decision: string,
    reasoning: string,
    data?: { readonly callId: string },
  ): void {
    this.#notes.push({
      type: 'decision',
      by: 'runtime',
      invocationId: this.#frame.record.path,
      component: 'hooks',
      decision,
      reasoning: `${reasoning} It is a hook of ${owner}.`,
      data: { owner, ...data },
    });
  }

  async #call<Given>(
    hook: string,
    owner: string,
    call: ((ctx: HookContext) => Given) | undefined,
    callId?: string,
  ): Promise<Something<Awaited<Given>> | undefined> {
    if (call === undefined) return undefined;
    try {
      const given = call(
        callId === undefined ? this.#contextNow() : this.#contextOf(this.#writesOf(callId)),
      );
      if (!(given instanceof Promise)) return given as Something<Awaited<Given>> | undefined;
      // A hook that never returns does not keep its run from ending.
      const { run, scope } = this.#frame;
      return (await untilAborted(given, { scope, clock: run.app.clock }))?.value as
        | Something<Awaited<Given>>
        | undefined;
    } catch (thrown) {
      throw new HookFailedError(
        { hook, owner, reason: toErrorRecord(thrown).message },
        { cause: thrown },
      );
    }
  }

  #contextNow(): HookContext {
    this.#context ??= this.#contextOf(this.#writes);
    return this.#context;
  }

  /** Returns access to the same state; its writes are marked with the tool call. */
  #writesOf(callId: string): StateAccess {
    const writes = this.#writes;
    return {
      get sharedScopes() {
        return writes.sharedScopes;
      },
      temp: writes.temp,
      recordsUpdates: writes.recordsUpdates,
      read: (scope, key) => writes.read(scope, key),
      peek: (scope) => writes.peek(scope),
      write: (scope, changes, update) => writes.write(scope, changes, update, callId),
    };
  }

  #contextOf(writes: StateAccess): HookContext {
    const { run, record, scope } = this.#frame;
    const round = (): number => Math.max(this.#round(), this.#preparing);
    return Object.freeze({
      agent: this.#agent.name,
      invocationId: record.path,
      get round() {
        return round();
      },
      session: { id: run.session.id, app: run.session.app, events: run.ledger.events },
      state: createState(writes, this.#agent.stateSchema),
      get signal() {
        return scope.signal;
      },
      now: () => run.app.clock.now(),
    }) as HookContext;
  }
}

/**
 * Returns the milliseconds that a handler wants to wait; 0 when `delay` is not a positive number.
 */
export function delayOf({ delay }: { readonly delay?: unknown }): number {
  return typeof delay === 'number' && delay > 0 ? Math.min(delay, Number.MAX_SAFE_INTEGER) : 0;
}

/**
 * True when middleware has members for agents: more than `name`, `onStream` and `around`, which the
 * run itself uses.
 */
function concernsAgents({
  name: _name,
  onStream: _onStream,
  around: _around,
  ...rest
}: Middleware): boolean {
  return Object.values(rest).some((member) => member !== undefined);
}

const actions: ReadonlySet<unknown> = new Set<ErrorAction['action']>([
  'throw',
  'skip',
  'abort',
  'retry',
  'fallback',
  'pass',
]);

const wrappedModels = new WeakMap<Middleware, WeakMap<LanguageModelV4, LanguageModelV4>>();

function wrapped(middleware: Middleware, model: LanguageModelV4): LanguageModelV4 {
  if (middleware.wrapModel === undefined) return model;
  const known = wrappedModels.get(middleware) ?? new WeakMap<LanguageModelV4, LanguageModelV4>();
  wrappedModels.set(middleware, known);
  const result = known.get(model) ?? middleware.wrapModel(model);
  known.set(model, result);
  return result;
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

/** Returns the tool result that a hook gave. An object with nothing but an `error` is a refusal. */
function givenResult(given: unknown): ToolResult {
  if (isPlainObject(given) && Object.keys(given).length === 1 && 'error' in given) {
    return toolResult.blocked(coerceToJson(given['error']).value, { errorType: 'hook_refused' });
  }
  return toToolResult(given);
}

function unusable(hook: string, owner: string, given: unknown, expected: string): HookFailedError {
  return new HookFailedError({
    hook,
    owner,
    reason: `it returned ${describeValue(given)}; ${expected} is expected, or nothing.`,
  });
}
