import type { JSONValue, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { defined } from '../base/defined.ts';
import type { JsonObject } from '../base/json.ts';
import type { RetryOptions } from '../base/retry-options.ts';
import { isTestModel, testModelMark } from './test-model-mark.ts';

/**
 * Settings of a call that do not depend on the prompt. A setting with another name at a provider
 * goes in `providerOptions`.
 */
export interface ModelSettings {
  readonly temperature?: number;
  /** Most tokens in one answer. */
  readonly maxTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  /** A wait that the provider asks for is kept, whatever its length. */
  readonly retry?: RetryOptions;
  /**
   * Milliseconds for one attempt.
   * @default `defaults.modelTimeoutMs` of the runtime, else 60_000
   */
  readonly timeoutMs?: number;
  readonly providerOptions?: {
    readonly [provider: string]: { readonly [option: string]: JSONValue };
  };
}

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** @default the price of input */
  readonly cachedInput?: number;
  /** @default the price of input */
  readonly cacheWrite?: number;
}

/** The number of the key, from 1, and the effort of reasoning. */
export interface ModelChoice {
  readonly key?: number;
  /** One of `ModelVariants.efforts`. */
  readonly effort?: string;
}

/** Other ways to call the same model, for when a call failed. */
export interface ModelVariants {
  /** Keys that there are; read from the environment each time. */
  countKeys(): number;
  /** Efforts below the model's own, the highest first, in words for people: `low effort`. */
  readonly efforts: readonly string[];
  /** The same model for the same choice. */
  make(choice: ModelChoice): Model;
}

/** A model as an agent names it: it is loaded on the first call. */
export interface Model {
  readonly kind: 'model';
  readonly provider: string;
  readonly modelId: string;
  readonly settings: ModelSettings;
  /** Overrides the price table. */
  readonly price?: Price;
  /** Tokens that prompt and answer may have together. @default 128_000 */
  readonly contextWindow?: number;
  /** Tokens of a text, exactly. @default an estimate that is rather too high */
  readonly countTokens?: (text: string) => number;
  /**
   * Support for a JSON Schema of the answer: always, only in calls without tools, or never.
   * Otherwise the schema is part of the prompt, in words.
   * @default 'always'
   */
  readonly structuredOutputs?: 'always' | 'without_tools' | 'never';
  /** Used one after the other when calls fail. */
  readonly variants?: ModelVariants;
  /**
   * Gives the provider's model. It is asked before every call and is expected to remember.
   * @throws MissingPackageError, MissingKeyError
   */
  load(): LanguageModelV4 | Promise<LanguageModelV4>;
}

/** The option `model` of an agent: a model of this package or any AI SDK model. */
export type ModelInput = Model | LanguageModelV4;

const wrapped = new WeakMap<LanguageModelV4, Model>();

/** A model of this package for any model input; the same one for the same input. */
export function toModel(input: ModelInput): Model {
  if ('kind' in input) return input;
  let model = wrapped.get(input);
  if (model === undefined) {
    // Models of @ai-sdk/openai-compatible say so of themselves.
    const takesNoSchema =
      (input as { readonly supportsStructuredOutputs?: unknown }).supportsStructuredOutputs ===
      false;
    const support = takesNoSchema ? { structuredOutputs: 'never' as const } : {};
    const { provider, modelId } = input;
    const mark = isTestModel(input)
      ? { [testModelMark]: true, ...windowOf(input as { readonly contextWindow?: unknown }) }
      : {};
    model = Object.freeze({
      kind: 'model' as const,
      provider,
      modelId,
      settings: {},
      ...support,
      ...mark,
      load: () => input,
    });
    wrapped.set(input, model);
  }
  return model;
}

/** The window that a scripted model has and says. */
function windowOf({
  contextWindow,
}: {
  readonly contextWindow?: unknown;
}): Pick<Model, 'contextWindow'> {
  return typeof contextWindow === 'number' ? { contextWindow } : {};
}

/** The name of a model in events and messages. */
export function modelName(model: Model): string {
  return `${model.provider}:${model.modelId}`;
}

/** The part of the call options that comes from the model's settings. */
export function callSettings(
  settings: ModelSettings,
): Omit<LanguageModelV4CallOptions, 'prompt'> & JsonObject {
  const { retry: _retry, timeoutMs: _timeout, maxTokens, ...rest } = settings;
  return { ...rest, ...defined({ maxOutputTokens: maxTokens }) } as Omit<
    LanguageModelV4CallOptions,
    'prompt'
  > &
    JsonObject;
}
