import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isPlainObject, type JsonValue } from '../base/json.ts';
import {
  findInvalidOption,
  isFunction,
  isListOfFunctions,
  isNonEmptyText,
  isObject,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { StreamEvent, Usage } from '../ledger/event.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { SessionReader } from '../session/body-context.ts';
import type { Runnable } from '../session/runnable.ts';
import type { StateOf, StateSchema } from '../session/state-types.ts';
import type { Around } from './operation.ts';
import type { RenderContext, Renderer } from './render-context.ts';

/** The context of hooks, middleware and error handlers. */
export interface HookContext<Schema extends StateSchema = StateSchema> {
  readonly agent: string;
  readonly invocationId: string;
  /** The round under way, from 1; 0 before the first. */
  readonly round: number;
  readonly session: SessionReader;
  /**
   * State of the agent. Writes are recorded with the effect of the hook: the answer, the tool's
   * result, the end.
   */
  readonly state: StateOf<Schema>;
  /** Aborted when the run is cancelled or released. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds, by the runtime's clock. */
  now(): number;
}

/** A tool call, as hooks see it. */
export interface HookToolCall {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonValue;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A part of an answer. */
export type StepEvent =
  | { readonly type: 'assistant'; readonly text: string }
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string; readonly args: JsonValue };

/** A replacement for a model's answer. */
export interface SubstituteAnswer {
  readonly stepEvents: readonly StepEvent[];
  /**
   * True when the agent ends with it; otherwise the model is called in a next round. Tool calls are
   * made in any case. @default true
   */
  readonly terminal?: boolean;
}

/** A model's answer, as `afterModel` sees it and may change it. */
export interface ModelResult {
  readonly stepEvents: readonly StepEvent[];
  readonly usage: Usage;
  readonly finishReason?: string | undefined;
  /** The source of the answer in place of the model. */
  readonly substitutedBy?: string | undefined;
}

/** A model call that is about to be made. */
export interface ModelCall {
  /** `provider:model`. */
  readonly model: string;
  /** The options of the call, without signal and headers. */
  readonly options: Omit<LanguageModelV4CallOptions, 'abortSignal' | 'headers'>;
}

type MaybePromise<Value> = Value | Promise<Value>;
// biome-ignore lint/suspicious/noConfusingVoidType: hooks that return nothing are the usual case
type Nothing = void | undefined;

/**
 * Functions that are called at fixed points of an agent's work. A returned value replaces the next
 * step; `undefined` changes nothing. After a stop, a hook is called again when the ledger does not
 * show its effect.
 */
export interface Hooks<Schema extends StateSchema = StateSchema> {
  /** A string is the agent's answer, and nothing else is done; a runnable takes over. */
  readonly beforeAgent?: (ctx: HookContext<Schema>) => MaybePromise<string | Runnable | Nothing>;
  /** A returned value is the output. */
  readonly afterAgent?: (
    ctx: HookContext<Schema>,
    output: JsonValue,
  ) => MaybePromise<JsonValue | Nothing>;
  /** An answer in the place of the model's, another prompt, or a runnable that takes over. */
  readonly beforeModel?: (
    ctx: HookContext<Schema>,
    prompt: RenderContext,
  ) => MaybePromise<SubstituteAnswer | RenderContext | Runnable | Nothing>;
  /** Another answer, or a runnable that takes over. */
  readonly afterModel?: (
    ctx: HookContext<Schema>,
    result: ModelResult,
  ) => MaybePromise<ModelResult | Runnable | Nothing>;
  /**
   * A result in the place of the tool's, which is not run: a plain value is a success, `{ error }`
   * a refusal.
   */
  readonly beforeTool?: (ctx: HookContext<Schema>, call: HookToolCall) => unknown;
  /** Another result. */
  readonly afterTool?: (
    ctx: HookContext<Schema>,
    call: HookToolCall,
    result: ToolResult,
  ) => unknown;
  /** An answer in the place of the model's, after everything else has failed. */
  readonly onModelError?: (
    ctx: HookContext<Schema>,
    error: Error,
  ) => MaybePromise<string | SubstituteAnswer | Nothing>;
  /** A result in the place of a failed one, before the error handlers see it. */
  readonly onToolError?: (
    ctx: HookContext<Schema>,
    call: HookToolCall,
    result: ToolResult,
  ) => unknown;
}

/**
 * Hooks with a name that lie around everything: they are called before all plain hooks on the way
 * in, and after them on the way out; those of the runtime are outside those of the agent.
 */
export interface Middleware<Schema extends StateSchema = StateSchema> extends Hooks<Schema> {
  readonly name: string;
  /**
   * Called with each event of a run as it happens; on an agent, with each event of its invocations
   * and of those below them. It cannot change anything, and its errors are ignored.
   */
  readonly onStream?: (event: StreamEvent) => void;
  /** Added before the renderers of the agent. */
  readonly context?: readonly Renderer[];
  /** Called when the prompt is made, right before the model is asked: an answer in its place. */
  readonly beforeCall?: (
    ctx: HookContext<Schema>,
    call: ModelCall,
  ) => MaybePromise<SubstituteAnswer | Nothing>;
  /** Wraps the model, and may change the stream too. Called once for each model. */
  readonly wrapModel?: (model: LanguageModelV4) => LanguageModelV4;
  /**
   * Wraps the work itself: runs, invocations, requests to models, executions of tools; on an agent,
   * its invocations and all work below them. It must call `work` once and return its result; its
   * own errors are failures of that work. For tracing.
   */
  readonly around?: Around;
}

/** The failure that an error handler decides about. */
export interface ErrorContext<Schema extends StateSchema = StateSchema>
  extends HookContext<Schema> {
  readonly phase: 'model' | 'tool';
  /** A `ModelError`, or for tools an error with the result's `errorType` as its `code`. */
  readonly error: Error & { readonly code: string };
  /** Number of equal failures in a row, this one included. */
  readonly attempt: number;
  /** Milliseconds that the other side asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** True when one more attempt could have an effect twice: then it is not made. */
  readonly mayRetry: boolean;
  readonly call?: HookToolCall | undefined;
  readonly result?: ToolResult | undefined;
}

/**
 * `throw`: the agent ends with the error. `skip`: the model gets the failed result, and nothing
 * else is tried (tools only). `abort`: the run is cancelled. `retry`: another attempt, after
 * `delay` milliseconds. `fallback`: this result. `pass`: the next handler is asked, and behind the
 * last one the error router.
 */
export type ErrorAction =
  | { readonly action: 'throw' | 'skip' | 'abort' | 'pass' }
  | { readonly action: 'retry'; readonly delayMs?: number }
  | { readonly action: 'fallback'; readonly result: unknown };

export interface ErrorHandler<Schema extends StateSchema = StateSchema> {
  readonly name: string;
  /** @default every error */
  readonly canHandle?: (ctx: ErrorContext<Schema>) => boolean;
  readonly handle: (ctx: ErrorContext<Schema>) => MaybePromise<ErrorAction | Nothing>;
}

const hookChecks: OptionChecks<Hooks> = {
  beforeAgent: isFunction,
  afterAgent: isFunction,
  beforeModel: isFunction,
  afterModel: isFunction,
  beforeTool: isFunction,
  afterTool: isFunction,
  onModelError: isFunction,
  onToolError: isFunction,
};

const middlewareChecks: OptionChecks<Middleware> = {
  ...hookChecks,
  name: isNonEmptyText,
  onStream: isFunction,
  context: isListOfFunctions,
  beforeCall: isFunction,
  wrapModel: isFunction,
  around: isFunction,
};

/** Requirement on the option `hooks`: hooks, or a list of them. */
export const isHooks: OptionCheck = (value) => {
  for (const one of Array.isArray(value) ? value : [value]) {
    const invalid = findInvalidOption(one, hookChecks);
    if (invalid === undefined) continue;
    if (isObject(one) !== undefined) return 'an object with hooks, or a list of such objects';
    return Array.isArray(value) ? `a list of hooks, each ${invalid.within}` : invalid.within;
  }
  return undefined;
};

/** Requirement on the option `middleware`. */
export const isListOfMiddleware: OptionCheck = (value) => {
  if (!Array.isArray(value)) return 'a list of middleware';
  for (const one of value) {
    const invalid = findInvalidOption(one, middlewareChecks);
    if (invalid !== undefined) return `a list of middleware, each ${invalid.within}`;
    if ((one as Partial<Middleware>).name === undefined)
      return 'a list of middleware, each with a `name`';
  }
  return undefined;
};

/** Requirement on the option `errorHandlers`. */
export const isListOfErrorHandlers: OptionCheck = (value) => {
  if (!Array.isArray(value)) return 'a list of error handlers';
  for (const one of value as readonly (Partial<ErrorHandler> | null | undefined)[]) {
    if (typeof one?.name !== 'string' || typeof one.handle !== 'function')
      return 'a list of error handlers, each with a `name` and a function `handle`';
    const invalid = isPlainObject(one) ? findInvalidOption(one, handlerChecks) : undefined;
    if (invalid !== undefined) return `a list of error handlers, each ${invalid.within}`;
  }
  return undefined;
};

const handlerChecks: OptionChecks<ErrorHandler> = {
  name: isNonEmptyText,
  canHandle: isFunction,
  handle: isFunction,
};

/** Requirement on the option `middleware` of an agent. */
export const isListOfAgentMiddleware: OptionCheck = (value) => {
  const invalid = isListOfMiddleware(value);
  if (invalid !== undefined) return invalid;
  const traces = (value as readonly Middleware[]).some(({ name }) => name === 'openTelemetry');
  return traces
    ? 'a list of middleware without "openTelemetry", which traces whole runs: give it to ' +
        'runtime({ middleware })'
    : undefined;
};
