import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { systemClock } from '../base/clock.ts';
import { AdjutantError } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { Usage } from '../ledger/event.ts';

/** One answer of a scripted model. All parts may be combined; an empty object is an empty answer. */
export interface ScriptedResponse {
  readonly text?: string;
  /** The text as the deltas it comes in; `text` is then not needed. */
  readonly chunks?: readonly string[];
  readonly thoughts?: string;
  /** A string as `args` is sent as it is, so that it can be broken JSON. */
  readonly toolCalls?: readonly { readonly name: string; readonly args?: JsonValue; readonly providerCallId?: string }[];
  /** @default 10 input and 5 output tokens; `null` reports none */
  readonly usage?: Usage | null;
  /** @default 'tool-calls' when there are tool calls, else 'stop' */
  readonly finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  /** Thrown by the call, before anything is streamed. */
  readonly error?: unknown;
  /** Streamed as an error after everything else, instead of the end. */
  readonly streamError?: unknown;
  /** Ends the stream without a finish, as a lost connection may. */
  readonly cut?: boolean;
  /** Milliseconds before the call answers; an abort ends the wait. */
  readonly delayMs?: number;
}

export type ScriptedResponses = readonly ScriptedResponse[] | ((prompt: LanguageModelV4Prompt, call: number) => ScriptedResponse);

export interface ScriptedModelOptions {
  /** @default 'scripted' */
  readonly provider?: string;
  /** @default 'scripted' */
  readonly modelId?: string;
  /** Keep the options of every call in `calls`; off, a benchmark of many calls keeps no prompts alive. @default true */
  readonly record?: boolean;
  /** What is answered when the list has run out. @default an error */
  readonly defaultResponse?: ScriptedResponse;
}

export interface ScriptedModel extends LanguageModelV4 {
  /** The options of every call, in order; the prompt is a copy of the list of messages. */
  readonly calls: readonly LanguageModelV4CallOptions[];
}

/** A scripted model was called more often than it has responses. */
export class ScriptExhaustedError extends AdjutantError {
  constructor(data: { responses: number; lastMessage: string }) {
    super(
      'script_exhausted',
      `The scripted model has ${data.responses} responses and was called once more, with this last message: ${data.lastMessage}`,
      data,
    );
  }
}

/**
 * A model that gives prepared answers, one for each call, and keeps what it was asked.
 * Provider call ids are `call_1`, `call_2`, … over the model's life.
 */
export function scriptedModel(responses: ScriptedResponses, options: ScriptedModelOptions = {}): ScriptedModel {
  const calls: LanguageModelV4CallOptions[] = [];
  let callCount = 0;
  let toolCallCount = 0;
  const nextId = (): string => `call_${++toolCallCount}`;
  const next = (prompt: LanguageModelV4Prompt): ScriptedResponse => {
    const call = callCount++;
    if (typeof responses === 'function') return responses(prompt, call);
    const response = responses[call] ?? options.defaultResponse;
    if (response !== undefined) return response;
    throw new ScriptExhaustedError({ responses: responses.length, lastMessage: shorten(JSON.stringify(prompt.at(-1) ?? null)) });
  };
  return {
    specificationVersion: 'v4',
    provider: options.provider ?? 'scripted',
    modelId: options.modelId ?? 'scripted',
    supportedUrls: {},
    calls,
    doGenerate: () => Promise.reject(new AdjutantError('not_supported', 'The scripted model only streams: call doStream.')),
    async doStream(callOptions) {
      if (options.record !== false) calls.push({ ...callOptions, prompt: callOptions.prompt.slice() });
      const response = next(callOptions.prompt);
      if (response.delayMs !== undefined) await wait(response.delayMs, callOptions.abortSignal);
      if (response.error !== undefined) throw response.error;
      return { stream: streamOf(response, nextId) };
    },
  };
}

function shorten(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => {
    cancelTimer();
    reject(signal?.reason);
  };
  const cancelTimer = systemClock.setTimer(ms, () => {
    signal?.removeEventListener('abort', abort);
    resolve();
  });
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return promise;
}

/** Everything is enqueued at once: the stream costs as little as a web stream can. */
function streamOf(response: ScriptedResponse, nextId: () => string): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      enqueueThoughts(controller, response);
      enqueueText(controller, response);
      enqueueToolCalls(controller, response, nextId);
      if (response.streamError !== undefined) controller.enqueue({ type: 'error', error: response.streamError });
      else if (response.cut !== true) controller.enqueue(finishOf(response));
      controller.close();
    },
  });
}

type Controller = ReadableStreamDefaultController<LanguageModelV4StreamPart>;

function enqueueThoughts(controller: Controller, { thoughts }: ScriptedResponse): void {
  if (thoughts === undefined) return;
  controller.enqueue({ type: 'reasoning-start', id: 'thought' });
  controller.enqueue({ type: 'reasoning-delta', id: 'thought', delta: thoughts });
  controller.enqueue({ type: 'reasoning-end', id: 'thought' });
}

function enqueueText(controller: Controller, { text, chunks = text === undefined ? [] : [text] }: ScriptedResponse): void {
  if (chunks.length === 0) return;
  controller.enqueue({ type: 'text-start', id: 'text' });
  for (const delta of chunks) controller.enqueue({ type: 'text-delta', id: 'text', delta });
  controller.enqueue({ type: 'text-end', id: 'text' });
}

function enqueueToolCalls(controller: Controller, { toolCalls = [] }: ScriptedResponse, nextId: () => string): void {
  for (const { name, args = {}, providerCallId = nextId() } of toolCalls) {
    const input = typeof args === 'string' ? args : JSON.stringify(args);
    controller.enqueue({ type: 'tool-input-start', id: providerCallId, toolName: name });
    controller.enqueue({ type: 'tool-input-delta', id: providerCallId, delta: input });
    controller.enqueue({ type: 'tool-input-end', id: providerCallId });
    controller.enqueue({ type: 'tool-call', toolCallId: providerCallId, toolName: name, input });
  }
}

function finishOf(response: ScriptedResponse): LanguageModelV4StreamPart {
  const unified = response.finishReason ?? (response.toolCalls?.length ? 'tool-calls' : 'stop');
  return { type: 'finish', finishReason: { unified, raw: undefined }, usage: usageOf(response.usage) };
}

const defaultUsage: Usage = { inputTokens: 10, outputTokens: 5 };

function usageOf(usage: Usage | null = defaultUsage): LanguageModelV4Usage {
  return {
    inputTokens: { total: usage?.inputTokens, noCache: undefined, cacheRead: usage?.cachedInputTokens, cacheWrite: usage?.cacheWriteTokens },
    outputTokens: { total: usage?.outputTokens, text: undefined, reasoning: usage?.reasoningTokens },
  };
}
