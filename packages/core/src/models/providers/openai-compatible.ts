import { loadOptionalPackage } from '../../base/optional-package.ts';
import { isAnything, isFlag, isNonEmptyText } from '../../base/options.ts';
import { checkSettings, providerOptions, refuse, type SettingChecks } from '../check-settings.ts';
import type { Model } from '../model.ts';
import { firstKeys } from './keys.ts';
import { definedOptions, lazyModel, type OtherWays, type ProviderSettings } from './lazy-model.ts';

export interface OpenAiCompatibleSettings extends ProviderSettings {
  /**
   * Up to and including the version: `http://127.0.0.1:11434/v1` for Ollama,
   * `http://127.0.0.1:8000/v1` for vLLM. It has neither credentials nor a query, which would be
   * recorded: a key is `apiKey`.
   */
  readonly baseURL: string;
  readonly model: string;
  /** The name of the provider in events and messages. @default 'openai-compatible' */
  readonly name?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** True when the server takes a JSON Schema as the format of the answer. @default true */
  readonly structuredOutputs?: boolean;
}

const checks: SettingChecks<OpenAiCompatibleSettings> = {
  options: {
    ...providerOptions,
    baseURL: isAnything,
    model: isNonEmptyText,
    name: isNonEmptyText,
    headers: isAnything,
    structuredOutputs: isFlag,
  },
};

const example = "openaiCompatible({ baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3' })";

/**
 * A model behind any server that speaks OpenAI's chat completions, through
 * `@ai-sdk/openai-compatible`. It needs no key unless the server does.
 * @throws InvalidModelError
 */
export function openaiCompatible(settings: OpenAiCompatibleSettings): Model {
  const id = [settings?.name ?? 'openai-compatible', settings?.model ?? []].flat().join(':');
  checkSettings(id, settings, checks);
  refuse(id, '', settings.baseURL === undefined ? `\`baseURL\` is missing: ${example}` : undefined);
  refuse(id, '', settings.model === undefined ? `\`model\` is missing: ${example}` : undefined);
  return compatibleModel(settings, 1, {
    countKeys: () => firstKeys(settings.apiKey).length,
    efforts: [],
    make: (other, key) => compatibleModel(other, key, undefined),
  });
}

function compatibleModel(
  settings: OpenAiCompatibleSettings,
  key: number,
  otherWays: OtherWays<OpenAiCompatibleSettings> | undefined,
): Model {
  const {
    baseURL,
    model,
    name = 'openai-compatible',
    headers,
    structuredOutputs = true,
  } = settings;
  const load = async () => {
    const needed = `The model ${name}:${model}`;
    const { createOpenAICompatible } = await loadOptionalPackage(
      '@ai-sdk/openai-compatible',
      needed,
      () => import('@ai-sdk/openai-compatible'),
    );
    const apiKey = firstKeys(settings.apiKey)[key - 1];
    const options = definedOptions({
      apiKey,
      headers: headers && { ...headers },
      fetch: settings.fetch,
    });
    return createOpenAICompatible({
      name,
      baseURL,
      includeUsage: true,
      supportsStructuredOutputs: structuredOutputs,
      ...options,
    })(model);
  };
  // Servers such as vLLM and Ollama hold everything to the schema, so that no tools could be
  // called.
  const support = structuredOutputs ? 'without_tools' : 'never';
  return lazyModel(
    { provider: name, modelId: model, structuredOutputs: support },
    settings,
    {},
    load,
    otherWays,
  );
}
