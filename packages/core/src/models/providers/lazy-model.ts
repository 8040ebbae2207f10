import type { LanguageModelV4 } from '@ai-sdk/provider';
import { defined } from '../../base/defined.ts';
import type { Model, ModelSettings, ModelVariants, Price } from '../model.ts';
import type { LowerEffort } from './efforts.ts';
import type { ApiKeys } from './keys.ts';

/** Settings of every provider function besides its own. */
export interface ProviderSettings extends ModelSettings {
  /**
   * The key itself, or several, which are used one after the other when a call is refused for the
   * key's sake; better left to the environment. It is never recorded.
   */
  readonly apiKey?: ApiKeys | undefined;
  /** Overrides the price table. */
  readonly price?: Price;
  /**
   * Tokens that prompt and answer may have together. @default the known size of the model, else
   * 128_000
   */
  readonly contextWindow?: number;
  /** Tokens of a text, when a tokenizer is at hand. @default an estimate that is rather too high */
  readonly countTokens?: (text: string) => number;
  /** Used for every request instead of the global `fetch`: for proxies and tests. */
  readonly fetch?: typeof fetch | undefined;
  /** Read instead of `process.env`, when the model is loaded. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export type ProviderOptions = NonNullable<ModelSettings['providerOptions']>;

/**
 * The settings that every provider has, and nothing else: keys and endpoints must not reach the
 * ledger.
 */
function recordedSettings(
  settings: ProviderSettings,
  providerOptions: ProviderOptions,
): ModelSettings {
  const {
    temperature,
    maxTokens,
    topP,
    topK,
    presencePenalty,
    frequencyPenalty,
    stopSequences,
    seed,
    retry,
    timeoutMs,
  } = settings;
  const merged: Record<string, ProviderOptions[string]> = { ...providerOptions };
  for (const [provider, options] of Object.entries(settings.providerOptions ?? {}))
    merged[provider] = { ...merged[provider], ...options };
  const all = {
    temperature,
    maxTokens,
    topP,
    topK,
    presencePenalty,
    frequencyPenalty,
    stopSequences,
    seed,
    retry,
    timeoutMs,
    providerOptions: Object.keys(merged).length === 0 ? undefined : merged,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as ModelSettings;
}

/** The ways in which a model can be called besides its own one. */
export interface OtherWays<Settings> {
  countKeys(): number;
  readonly efforts: readonly LowerEffort<Settings>[];
  /** The model with the key of this number, from 1. */
  make(settings: Settings, key: number): Model;
}

/**
 * A model that is loaded once, on its first call; a load that fails is tried again by the next
 * call.
 */
export function lazyModel<Settings extends ProviderSettings>(
  name: Pick<Model, 'provider' | 'modelId' | 'structuredOutputs'>,
  settings: Settings,
  providerOptions: ProviderOptions,
  load: () => Promise<LanguageModelV4>,
  /** Missing in models that are themselves such a way. */
  otherWays: OtherWays<Settings> | undefined,
): Model {
  let loaded: LanguageModelV4 | Promise<LanguageModelV4> | undefined;
  const loadOnce = (): LanguageModelV4 | Promise<LanguageModelV4> => {
    loaded ??= load().then(
      (model) => (loaded = model),
      (error: unknown) => {
        loaded = undefined;
        throw error;
      },
    );
    return loaded;
  };
  return Object.freeze({
    kind: 'model' as const,
    ...name,
    settings: Object.freeze(recordedSettings(settings, providerOptions)),
    ...defined({
      price: settings.price,
      contextWindow: settings.contextWindow,
      countTokens: settings.countTokens,
    }),
    ...(otherWays === undefined ? {} : { variants: variantsOf(settings, otherWays) }),
    load: loadOnce,
  });
}

/** Each variant is made once, so that it is loaded once. */
function variantsOf<Settings>(
  settings: Settings,
  { countKeys, efforts, make }: OtherWays<Settings>,
): ModelVariants {
  const made = new Map<string, Model>();
  return Object.freeze({
    countKeys,
    efforts: Object.freeze(efforts.map(({ name }) => name)),
    make: ({ key = 1, effort }) => {
      const id = `${key} ${effort ?? ''}`;
      let model = made.get(id);
      if (model === undefined) {
        model = make(efforts.find(({ name }) => name === effort)?.settings ?? settings, key);
        made.set(id, model);
      }
      return model;
    },
  } satisfies ModelVariants);
}

/**
 * Options for a provider without those that are not set, so that the provider's own defaults hold.
 */
export function definedOptions<Options extends object>(
  options: Options,
): { [Key in keyof Options]?: NonNullable<Options[Key]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Options]?: NonNullable<Options[Key]>;
  };
}
