import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Model, ModelSettings, Price } from './model.ts';

/** What every provider function takes besides its own settings. */
export interface ProviderSettings extends ModelSettings {
  /** The key itself; better left to the environment. It is never recorded. */
  readonly apiKey?: string | undefined;
  /** Overrides the price table. */
  readonly price?: Price;
  /** Tokens that prompt and answer may have together. @default what is known of the model, else 128_000 */
  readonly contextWindow?: number;
  /** Used for every request instead of the global `fetch`: for proxies and tests. */
  readonly fetch?: typeof fetch | undefined;
  /** Read instead of `process.env`, when the model is loaded. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export type ProviderOptions = NonNullable<ModelSettings['providerOptions']>;

/** The settings that every provider has, and nothing else: keys and endpoints must not reach the ledger. */
function recordedSettings(settings: ProviderSettings, providerOptions: ProviderOptions): ModelSettings {
  const { temperature, maxTokens, topP, topK, presencePenalty, frequencyPenalty, stopSequences, seed, retry, timeout } = settings;
  const merged: Record<string, ProviderOptions[string]> = { ...providerOptions };
  for (const [provider, options] of Object.entries(settings.providerOptions ?? {})) merged[provider] = { ...merged[provider], ...options };
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
    timeout,
    providerOptions: Object.keys(merged).length === 0 ? undefined : merged,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as ModelSettings;
}

/** A model that is loaded once, on its first call; a load that fails is tried again by the next call. */
export function lazyModel(
  name: { readonly provider: string; readonly modelId: string },
  settings: ProviderSettings,
  providerOptions: ProviderOptions,
  load: () => Promise<LanguageModelV4>,
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
    ...(settings.price === undefined ? {} : { price: settings.price }),
    ...(settings.contextWindow === undefined ? {} : { contextWindow: settings.contextWindow }),
    load: loadOnce,
  });
}

/** Options for a provider without those that are not set, so that the provider's own defaults hold. */
export function definedOptions<Options extends object>(options: Options): { [Key in keyof Options]?: NonNullable<Options[Key]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Options]?: NonNullable<Options[Key]>;
  };
}
