import { checkOptions } from '../base/invalid-option.ts';
import { coerceToJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { isFlag, isFunction, isOneOf, type OptionChecks } from '../base/options.ts';
import { visibleJson } from '../base/text/visible-text.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type {
  HookContext,
  Hooks,
  HookToolCall,
  Middleware,
  ModelCall,
  ModelResult,
} from '../runnables/hooks.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One line of the log of an agent's work. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Epoch milliseconds, by the clock of the runtime. */
  readonly at: number;
  /** The point of the agent's work at which it was written. */
  readonly point: keyof Hooks | 'beforeCall';
  readonly message: string;
  readonly session: string;
  readonly invocation: string;
  readonly agent: string;
  readonly round: number;
  /** Names, counts and codes; with `values` also texts, arguments and results. */
  readonly data: JsonObject;
}

export interface LoggingMiddlewareOptions {
  /**
   * Receives each entry. An error that it throws is ignored. @default one line of JSON on stderr
   */
  readonly onLog?: (entry: LogEntry) => void;
  /** The lowest level that is logged. @default 'info' */
  readonly level?: LogLevel;
  /**
   * Logs texts, arguments, results and messages of errors too; a `secret()` shows its name only.
   * @default false
   */
  readonly values?: boolean;
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const optionChecks: OptionChecks<LoggingMiddlewareOptions> = {
  onLog: isFunction,
  level: isOneOf(...levels),
  values: isFlag,
};

function writeLine(entry: LogEntry): void {
  process.stderr.write(`${visibleJson(entry)}\n`);
}

/**
 * Logs the work of agents at each point of it. Without `values` an entry has no text, argument or
 * result.
 * @throws InvalidOptionError
 */
export function loggingMiddleware(options: LoggingMiddlewareOptions = {}): Middleware {
  checkOptions('loggingMiddleware', options, optionChecks);
  const log = logOf(options);
  return Object.freeze({
    name: 'loggingMiddleware',
    beforeAgent: (ctx: HookContext) =>
      log(ctx, 'beforeAgent', 'info', 'The agent begins.', {}, nothing),
    afterAgent: (ctx: HookContext, output: JsonValue) =>
      log(ctx, 'afterAgent', 'info', 'The agent has an answer.', {}, () => ({ output })),
    beforeModel: (ctx: HookContext) =>
      log(ctx, 'beforeModel', 'debug', 'A prompt is made.', {}, nothing),
    beforeCall: (ctx: HookContext, { model, options: { prompt } }: ModelCall) =>
      log(
        ctx,
        'beforeCall',
        'debug',
        'The model is asked.',
        { model, messages: prompt.length },
        () => ({ prompt }),
      ),
    afterModel: (ctx: HookContext, result: ModelResult) =>
      log(ctx, 'afterModel', 'info', 'The model has answered.', answerData(result), () => result),
    beforeTool: (ctx: HookContext, call: HookToolCall) =>
      log(ctx, 'beforeTool', 'info', 'A tool is called.', callData(call), () => ({
        args: call.args,
      })),
    afterTool: (ctx: HookContext, call: HookToolCall, result: ToolResult) =>
      log(
        ctx,
        'afterTool',
        'info',
        'A tool has a result.',
        { ...callData(call), ...resultData(result) },
        () => ({ content: result.content }),
      ),
    onModelError: (ctx: HookContext, error: Error) =>
      log(ctx, 'onModelError', 'error', 'The model has failed.', { code: codeOf(error) }, () => ({
        error: error.message,
      })),
    onToolError: (ctx: HookContext, call: HookToolCall, result: ToolResult) =>
      log(
        ctx,
        'onToolError',
        'warn',
        'A tool has failed.',
        { ...callData(call), ...resultData(result) },
        () => ({
          content: result.content,
          detail: result.detail,
        }),
      ),
  });
}

type Log = (
  ctx: HookContext,
  point: LogEntry['point'],
  level: LogLevel,
  message: string,
  data: object,
  value: () => object,
) => void;

/** Returns the function that writes an entry, if its level is high enough. */
function logOf(options: LoggingMiddlewareOptions): Log {
  const { onLog = writeLine, level: lowest = 'info', values = false } = options;
  return (ctx, point, level, message, data, value) => {
    if (levels.indexOf(level) < levels.indexOf(lowest)) return;
    try {
      const shown = coerceToJson(values ? { ...data, ...value() } : data).value as JsonObject;
      const { agent, invocationId: invocation, round } = ctx;
      onLog({
        level,
        at: ctx.now(),
        point,
        message,
        session: ctx.session.id,
        invocation,
        agent,
        round,
        data: shown,
      });
    } catch {
      // A log that cannot be written ends no work.
    }
  };
}

function nothing(): object {
  return {};
}

function answerData({ stepEvents, usage, finishReason, substitutedBy }: ModelResult): object {
  const tools = stepEvents.flatMap((event) => (event.type === 'tool_call' ? [event.name] : []));
  return { tools, usage, finishReason, substitutedBy };
}

function callData({ callId, name, attempt }: HookToolCall): object {
  return { call: callId, tool: name, attempt };
}

function resultData({ status, errorType }: ToolResult): object {
  return { status, errorType };
}

function codeOf(error: Error & { readonly code?: unknown }): string {
  return typeof error.code === 'string' ? error.code : error.name;
}
