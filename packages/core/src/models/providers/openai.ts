import type { LanguageModelV4 } from '@ai-sdk/provider';
import { defined } from '../../base/defined.ts';
import { loadOptionalPackage } from '../../base/optional-package.ts';
import { isAnything, isList, isObject, isOneOf } from '../../base/options.ts';
import {
  checkModelId,
  checkSettings,
  providerOptions,
  type SettingChecks,
} from '../check-settings.ts';
import type { Model } from '../model.ts';
import { lowerLevels } from './efforts.ts';
import { endpointFallback } from './endpoint-fallback.ts';
import {
  lazyModel,
  type OtherWays,
  type ProviderOptions,
  type ProviderSettings,
} from './lazy-model.ts';
import {
  checkEndpoints,
  countOpenAiKeys,
  type OpenAiEndpoint,
  type ResolvedEndpoint,
  resolveOpenAiEndpoints,
} from './openai-endpoint.ts';

export interface OpenAiSettings extends ProviderSettings {
  readonly reasoning?: { readonly effort?: 'minimal' | 'low' | 'medium' | 'high' };
  /**
   * The endpoints to call, in order; the next one is used when one is not available. Endpoints
   * without a key are left out.
   * @default Azure, then the EU, then the standard endpoint, as far as the environment has keys for
   * them
   */
  readonly endpoints?: readonly OpenAiEndpoint[];
  /** Azure deployment names by model id. @default the model id */
  readonly deployments?: Readonly<Record<string, string>>;
}

const checks: SettingChecks<OpenAiSettings> = {
  options: { ...providerOptions, reasoning: isAnything, endpoints: isList, deployments: isObject },
  groups: { reasoning: { effort: isOneOf('minimal', 'low', 'medium', 'high') } },
};

/**
 * An OpenAI model, through `@ai-sdk/openai`. OpenAI is asked not to store the answers, because the
 * ledger does: reasoning travels encrypted with the prompt. `providerOptions: { openai: { store:
 * true } }` changes that.
 *
 * Environment, several keys separated by commas: `AZURE_OPENAI_ENDPOINT`, `AZURE_OPENAI_API_KEY`,
 * `AZURE_OPENAI_API_VERSION`, `OPENAI_EU_API_KEY`, `OPENAI_API_KEY`, `OPENAI_BASE_URL`.
 * @throws InvalidModelError
 * @example
 * ```ts
 * import { agent, openai } from 'adjutant';
 *
 * export const writer = agent({ name: 'writer', model: openai('gpt-5-mini') });
 * ```
 */
export function openai(modelId: string, settings: OpenAiSettings = {}): Model {
  checkModelId('openai', modelId, "openai('gpt-5-mini')");
  checkSettings(`openai:${modelId}`, settings, checks);
  checkEndpoints(`openai:${modelId}`, settings.endpoints ?? []);
  const efforts = isLowerable(settings) ? lowerLevels(settings.reasoning?.effort) : [];
  return openaiModel(modelId, settings, 1, {
    countKeys: () => countOpenAiKeys(settings, settings.env ?? process.env),
    efforts: efforts.map((effort) => ({
      name: `${effort} effort`,
      settings: { ...settings, reasoning: { ...settings.reasoning, effort } },
    })),
    make: (other, key) => openaiModel(modelId, other, key, undefined),
  });
}

/** `providerOptions` win over the settings: an effort given there stays. */
function isLowerable(settings: OpenAiSettings): boolean {
  return settings.providerOptions?.['openai']?.['reasoningEffort'] === undefined;
}

function openaiModel(
  modelId: string,
  settings: OpenAiSettings,
  key: number,
  otherWays: OtherWays<OpenAiSettings> | undefined,
): Model {
  const effort = settings.reasoning?.effort;
  const given: ProviderOptions = {
    openai: { store: false, ...defined({ reasoningEffort: effort }) },
  };
  const load = async (): Promise<LanguageModelV4> => {
    const endpoints = resolveOpenAiEndpoints(modelId, settings, settings.env ?? process.env, key);
    const { createOpenAI } = await loadOptionalPackage(
      '@ai-sdk/openai',
      `The model openai:${modelId}`,
      () => import('@ai-sdk/openai'),
    );
    const models = endpoints.map((endpoint) => ({
      name: endpoint.name,
      azure: endpoint.azure,
      model: openEndpoint(createOpenAI, endpoint, settings),
    }));
    return endpointFallback(models);
  };
  return lazyModel({ provider: 'openai', modelId }, settings, given, load, otherWays);
}

type CreateOpenAi = typeof import('@ai-sdk/openai')['createOpenAI'];

function openEndpoint(
  createOpenAI: CreateOpenAi,
  endpoint: ResolvedEndpoint,
  settings: OpenAiSettings,
): LanguageModelV4 {
  const send = endpoint.azure ? azureFetch(settings.fetch, endpoint.apiVersion) : settings.fetch;
  const provider = createOpenAI({
    baseURL: endpoint.baseUrl,
    apiKey: endpoint.apiKey,
    ...defined({ fetch: send }),
  });
  return endpoint.api === 'chat'
    ? provider.chat(endpoint.modelId)
    : provider.responses(endpoint.modelId);
}

/**
 * Azure takes the key in a header of its own and, except for its v1 API, the version of the API in
 * the query.
 */
function azureFetch(send: typeof fetch | undefined, apiVersion: string | undefined): typeof fetch {
  return (input, init) => {
    const url = new URL(String(input));
    if (apiVersion !== undefined) url.searchParams.set('api-version', apiVersion);
    const headers = new Headers(init?.headers);
    headers.set('api-key', (headers.get('authorization') ?? '').replace(/^Bearer /, ''));
    headers.delete('authorization');
    return (send ?? fetch)(url, { ...init, headers });
  };
}
