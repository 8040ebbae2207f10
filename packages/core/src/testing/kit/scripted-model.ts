import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { type Clock, systemClock } from '../../base/clock.ts';
import { AdjutantError } from '../../base/error.ts';
import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import {
  isAnything,
  isCount,
  isFlag,
  isFunction,
  isNonEmptyText,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { asTestModel } from '../../models/test-model-mark.ts';
import { promptTokens, promptTooLong } from './prompt-too-long.ts';
import { contentOf, finishOf, waitFor } from './scripted-answer.ts';
import { responseProblem, type ScriptedResponse } from './scripted-response.ts';
import { streamOf } from './scripted-stream.ts';

export type { ScriptedResponse } from './scripted-response.ts';

/**
 * Makes the response to a call. It gets the prompt, the number of the call, counted from 0, and all
 * other options of the call: tools, tool choice, settings.
 */
export type MakeResponse = (
  prompt: LanguageModelV4Prompt,
  call: number,
  options: LanguageModelV4CallOptions,
) => ScriptedResponse;

/** An answer to a call: a response, or a function that makes it. */
export type ScriptedTurn = ScriptedResponse | MakeResponse;

/** Responses in the order of the calls, or a function that answers all of them. */
export type ScriptedResponses = readonly ScriptedTurn[] | MakeResponse;

export interface ScriptedModelOptions {
  /** @default 'scripted' */
  readonly provider?: string;
  /** @default 'scripted' */
  readonly modelId?: string;
  /**
   * Keep the options of every call in `calls`; off, a benchmark of many calls keeps no prompts
   * alive. @default true
   */
  readonly record?: boolean;
  /**
   * The answer after the end of the list.
   * @default an error
   */
  readonly defaultResponse?: ScriptedTurn;
  /**
   * Clock of the delays: with the clock of the test they cost no real time.
   * @default the system's clock
   */
  readonly clock?: Clock;
  /**
   * Tokens that a prompt may have, counted at three characters of JSON to a token. A longer prompt
   * is refused as a provider refuses it, and uses up no response. Responses without `usage` report
   * the counted tokens.
   * @default any number
   */
  readonly contextWindow?: number;
  /**
   * True when agents know the window, so that they keep their prompts within it.
   * @default true
   */
  readonly isWindowKnown?: boolean;
}

export interface ScriptedModel extends LanguageModelV4 {
  /** The options of every call, in order; the prompt is a copy of the list of messages. */
  readonly calls: readonly LanguageModelV4CallOptions[];
  /** Responses of the list that no call has got; 0 when a function answers. */
  readonly remaining: number;
  /** Calls that were refused because their prompt was longer than the window. */
  readonly refused: number;
  /** Tokens that a prompt may have, if agents know it. */
  readonly contextWindow: number | undefined;
  /** @throws ScriptUnusedError when there are responses that no call has got */
  assertDone(): void;
}

/** Error of a scripted model that was called more often than it has responses. */
export class ScriptExhaustedError extends AdjutantError {
  constructor(data: { responses: number; lastMessage: string }) {
    super(
      'script_exhausted',
      `The scripted model has ${data.responses} responses and was called once more, with ` +
        `this last message: ${data.lastMessage}`,
      data,
    );
  }
}

/** Error of a scripted model that has responses which no call has got. */
export class ScriptUnusedError extends AdjutantError {
  constructor(data: { responses: number; calls: number; next: string }) {
    const { responses, calls, next } = data;
    super(
      'script_unused',
      `The scripted model has ${responses} responses and was called ${calls} times. The ` +
        `first that is left: ${next}`,
      data,
    );
  }
}

const isClock: OptionCheck = (value) =>
  typeof (value as Partial<Clock> | null)?.setTimer === 'function'
    ? undefined
    : 'a clock such as testClock()';

const optionChecks: OptionChecks<ScriptedModelOptions> = {
  provider: isNonEmptyText,
  modelId: isNonEmptyText,
  record: isFlag,
  defaultResponse: isAnything,
  clock: isClock,
  contextWindow: isCount,
  isWindowKnown: isFlag,
};

/**
 * Makes a model that gives prepared answers, one for each call, and keeps its calls. It streams and
 * answers in one piece. Provider call ids are `call_1`, `call_2`, … over the model's life.
 * @throws InvalidOptionError for unknown options and responses, and for invalid values
 * @example
 * ```ts
 * import { agent, runtime } from 'adjutant';
 * import { scriptedModel } from 'adjutant/testing';
 *
 * const model = scriptedModel([{ text: 'Hello.' }]);
 * await runtime({ app: 'test' }).run(agent({ name: 'greeter', model }), 'Hi');
 * console.log(model.calls.length); // 1
 * ```
 */
export function scriptedModel(
  responses: ScriptedResponses,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  checkOptions('scriptedModel', options, optionChecks);
  if (options.isWindowKnown !== undefined && options.contextWindow === undefined)
    refuse('`isWindowKnown` needs `contextWindow`');
  if (!Array.isArray(responses) && isFunction(responses) !== undefined)
    refuse('the responses must be a list or a function');
  if (typeof responses !== 'function')
    for (const [index, turn] of responses.entries()) checkTurn(turn, `response ${index + 1}`);
  if (options.defaultResponse !== undefined)
    checkTurn(options.defaultResponse, '`defaultResponse`');
  return new Script(responses, options).model;
}

function refuse(reason: string): never {
  throw new InvalidOptionError({ function: 'scriptedModel', reason });
}

function checkTurn(turn: ScriptedTurn, what: string): void {
  const problem = typeof turn === 'function' ? undefined : responseProblem(turn);
  if (problem !== undefined) refuse(`${what}: ${problem}`);
}

class Script {
  readonly #responses: ScriptedResponses;
  readonly #options: ScriptedModelOptions;
  readonly #calls: LanguageModelV4CallOptions[] = [];
  #callCount = 0;
  #refused = 0;
  #toolCallCount = 0;
  readonly #nextId = (): string => `call_${++this.#toolCallCount}`;

  constructor(responses: ScriptedResponses, options: ScriptedModelOptions) {
    this.#responses = responses;
    this.#options = options;
  }

  get model(): ScriptedModel {
    const remaining = (): number => this.#remaining;
    const refused = (): number => this.#refused;
    const { contextWindow, isWindowKnown = true } = this.#options;
    return asTestModel({
      specificationVersion: 'v4' as const,
      provider: this.#options.provider ?? 'scripted',
      modelId: this.#options.modelId ?? 'scripted',
      supportedUrls: {},
      calls: this.#calls,
      get remaining() {
        return remaining();
      },
      get refused() {
        return refused();
      },
      contextWindow: isWindowKnown ? contextWindow : undefined,
      assertDone: () => this.#assertDone(),
      doGenerate: (options: LanguageModelV4CallOptions) => this.#generate(options),
      doStream: async (options: LanguageModelV4CallOptions) => ({
        stream: await this.#stream(options),
      }),
    });
  }

  get #clock(): Clock {
    return this.#options.clock ?? systemClock;
  }

  get #remaining(): number {
    return typeof this.#responses === 'function'
      ? 0
      : Math.max(0, this.#responses.length - this.#callCount);
  }

  #assertDone(): void {
    if (this.#remaining === 0 || typeof this.#responses === 'function') return;
    const next = this.#responses[this.#callCount];
    const data = { responses: this.#responses.length, calls: this.#callCount };
    throw new ScriptUnusedError({
      ...data,
      next: typeof next === 'function' ? 'a function' : shorten(JSON.stringify(next)),
    });
  }

  async #stream(
    options: LanguageModelV4CallOptions,
  ): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const response = this.#take(options);
    await this.#begin(response, options.abortSignal);
    return streamOf(response, {
      nextId: this.#nextId,
      clock: this.#clock,
      signal: options.abortSignal,
    });
  }

  /** Answers in one piece; an error that would break the stream is thrown. */
  async #generate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const response = this.#take(options);
    await this.#begin(response, options.abortSignal);
    const gaps = Math.max(0, (response.chunks?.length ?? 0) - 1) * (response.chunkDelayMs ?? 0);
    if (gaps > 0) await waitFor(gaps, this.#clock, options.abortSignal);
    if (response.streamError !== undefined) throw response.streamError;
    if (response.cut === true)
      throw Object.assign(new Error('The connection was lost.'), { code: 'ECONNRESET' });
    return { content: contentOf(response, this.#nextId), ...finishOf(response), warnings: [] };
  }

  async #begin(
    { delayMs, error }: ScriptedResponse,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    signal?.throwIfAborted();
    if (delayMs !== undefined) await waitFor(delayMs, this.#clock, signal);
    if (error !== undefined) throw error;
  }

  #take(options: LanguageModelV4CallOptions): ScriptedResponse {
    if (this.#options.record !== false)
      this.#calls.push({ ...options, prompt: options.prompt.slice() });
    const { contextWindow } = this.#options;
    if (contextWindow === undefined) return this.#next(options);
    const tokens = promptTokens(options.prompt);
    if (tokens <= contextWindow)
      return { usage: { inputTokens: tokens, outputTokens: 5 }, ...this.#next(options) };
    this.#refused++;
    return { error: promptTooLong(contextWindow, tokens) };
  }

  #next(options: LanguageModelV4CallOptions): ScriptedResponse {
    const call = this.#callCount++;
    const isFunctionOfAll = typeof this.#responses === 'function';
    const turn = isFunctionOfAll
      ? (this.#responses as Exclude<ScriptedTurn, ScriptedResponse>)
      : (this.#responses[call] as ScriptedTurn | undefined);
    const chosen = turn ?? this.#options.defaultResponse;
    if (chosen === undefined)
      throw new ScriptExhaustedError({
        responses: this.#responses.length,
        lastMessage: lastMessageOf(options.prompt),
      });
    if (typeof chosen !== 'function') return chosen;
    const made = chosen(options.prompt, call, options);
    checkTurn(made, `what the function gave for call ${call + 1}`);
    return made;
  }
}

function lastMessageOf(prompt: LanguageModelV4Prompt): string {
  return shorten(JSON.stringify(prompt.at(-1) ?? null));
}

function shorten(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
