import {
  findInvalidOption,
  isAnything,
  isOneOf,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { checkSecrets, isBaseUrl, refuse } from '../check-settings.ts';
import { MissingKeyError } from '../errors.ts';
import { type ApiKeys, firstKeys, keysOf } from './keys.ts';

/** A place that serves OpenAI models. Missing members come from the environment. */
export type OpenAiEndpoint =
  | {
      readonly type: 'azure';
      /**
       * The resource, such as `https://my-resource.openai.azure.com`. @default
       * AZURE_OPENAI_ENDPOINT
       */
      readonly baseUrl?: string | undefined;
      /** @default AZURE_OPENAI_API_KEY */
      readonly apiKey?: ApiKeys | undefined;
      /** @default AZURE_OPENAI_API_VERSION, else 2025-01-01-preview */
      readonly apiVersion?: string | undefined;
    }
  | {
      readonly type: 'openai';
      /** @default OPENAI_BASE_URL, else https://api.openai.com/v1 */
      readonly baseUrl?: string | undefined;
      /**
       * @default OPENAI_EU_API_KEY, else OPENAI_API_KEY, for the EU endpoint; OPENAI_API_KEY for
       * others
       */
      readonly apiKey?: ApiKeys | undefined;
      /** The API to speak. @default 'responses' */
      readonly api?: 'responses' | 'chat' | undefined;
    };

const azureOptions: OptionChecks<OpenAiEndpoint & { type: 'azure' }> = {
  type: isAnything,
  baseUrl: isAnything,
  apiKey: isAnything,
  apiVersion: isText,
};
const standardOptions: OptionChecks<OpenAiEndpoint & { type: 'openai' }> = {
  type: isOneOf('azure', 'openai'),
  baseUrl: isAnything,
  apiKey: isAnything,
  api: isOneOf('responses', 'chat'),
};

/** @throws InvalidModelError */
export function checkEndpoints(model: string, endpoints: readonly OpenAiEndpoint[]): void {
  for (const [index, endpoint] of endpoints.entries()) {
    const place = `\`endpoints[${index}]\`: `;
    const type: unknown = (endpoint as { type?: unknown } | null)?.type;
    refuse(
      model,
      place,
      findInvalidOption<object>(endpoint, type === 'azure' ? azureOptions : standardOptions)
        ?.reason,
    );
    refuse(model, place, type === undefined ? "`type` is missing: 'azure' or 'openai'" : undefined);
    checkSecrets(model, place, endpoint);
  }
}

/** An endpoint with everything that a request needs. */
export interface ResolvedEndpoint {
  /** The host, for messages and to know again what an endpoint wrote. */
  readonly name: string;
  readonly azure: boolean;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiVersion: string | undefined;
  readonly api: 'responses' | 'chat';
  /** The name of the model in the body: its id, or the deployment's name for Azure's v1 API. */
  readonly modelId: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const euBaseUrl = 'https://eu.api.openai.com/v1';
const standardBaseUrl = 'https://api.openai.com/v1';
const defaultAzureApiVersion = '2025-01-01-preview';

export interface EndpointSettings {
  readonly apiKey?: ApiKeys | undefined;
  readonly endpoints?: readonly OpenAiEndpoint[];
  readonly deployments?: Readonly<Record<string, string>>;
}

/**
 * The endpoints that can be called with the keys of this number, from 1, in order. An endpoint that
 * has fewer keys is left out.
 * @throws MissingKeyError when there is none
 * @throws InvalidModelError when an address cannot be used
 */
export function resolveOpenAiEndpoints(
  modelId: string,
  settings: EndpointSettings,
  env: Environment,
  keyNumber: number,
): readonly ResolvedEndpoint[] {
  const deployment = settings.deployments?.[modelId] ?? modelId;
  const resolved = wantedEndpoints(settings, env).flatMap((endpoint) => {
    const apiKey = endpointKeys(endpoint, settings.apiKey, env)[keyNumber - 1];
    if (apiKey === undefined) return [];
    return endpoint.type === 'azure'
      ? resolveAzure(endpoint, modelId, deployment, apiKey, env)
      : resolveStandard(endpoint, modelId, apiKey, env);
  });
  if (resolved.length > 0) return resolved;
  throw new MissingKeyError({
    model: `openai:${modelId}`,
    variables: [
      'OPENAI_API_KEY',
      'OPENAI_EU_API_KEY',
      'AZURE_OPENAI_ENDPOINT with AZURE_OPENAI_API_KEY',
    ],
    hint: 'pass `apiKey` or `endpoints`',
  });
}

/** Keys of the endpoint that has most of them. */
export function countOpenAiKeys(settings: EndpointSettings, env: Environment): number {
  return Math.max(
    0,
    ...wantedEndpoints(settings, env).map(
      (endpoint) => endpointKeys(endpoint, settings.apiKey, env).length,
    ),
  );
}

function wantedEndpoints(
  { endpoints, apiKey }: EndpointSettings,
  env: Environment,
): readonly OpenAiEndpoint[] {
  if (endpoints !== undefined) return endpoints;
  if (apiKey !== undefined) return [{ type: 'openai', apiKey }];
  return [
    { type: 'azure' },
    ...(setting(env, 'OPENAI_EU_API_KEY') === undefined
      ? []
      : [{ type: 'openai' as const, baseUrl: euBaseUrl }]),
    { type: 'openai' },
  ];
}

/** None for an Azure endpoint without an address. */
function endpointKeys(
  endpoint: OpenAiEndpoint,
  directKeys: ApiKeys | undefined,
  env: Environment,
): readonly string[] {
  if (endpoint.type === 'azure') {
    return azureResource(endpoint, env) === undefined
      ? []
      : firstKeys(endpoint.apiKey, keysOf(env['AZURE_OPENAI_API_KEY']));
  }
  const isEu = standardUrl(endpoint, env).replace(/\/+$/, '') === euBaseUrl;
  return firstKeys(
    endpoint.apiKey,
    directKeys,
    isEu ? keysOf(env['OPENAI_EU_API_KEY']) : undefined,
    keysOf(env['OPENAI_API_KEY']),
  );
}

function azureResource(endpoint: OpenAiEndpoint, env: Environment): string | undefined {
  return endpoint.baseUrl || setting(env, 'AZURE_OPENAI_ENDPOINT');
}

function standardUrl(endpoint: OpenAiEndpoint, env: Environment): string {
  return endpoint.baseUrl || setting(env, 'OPENAI_BASE_URL') || standardBaseUrl;
}

function resolveAzure(
  endpoint: OpenAiEndpoint & { type: 'azure' },
  modelId: string,
  deployment: string,
  apiKey: string,
  env: Environment,
): ResolvedEndpoint[] {
  const given = azureResource(endpoint, env);
  if (given === undefined) return [];
  const resource = given.replace(/\/+$/, '');
  const name = hostOf(modelId, endpoint.baseUrl ? '`baseUrl`' : 'AZURE_OPENAI_ENDPOINT', resource);
  if (resource.endsWith('/openai/v1')) {
    return [
      {
        name,
        azure: true,
        baseUrl: resource,
        apiKey,
        apiVersion: undefined,
        api: 'chat',
        modelId: deployment,
      },
    ];
  }
  const apiVersion =
    endpoint.apiVersion || setting(env, 'AZURE_OPENAI_API_VERSION') || defaultAzureApiVersion;
  const host = resource.replace(/\/openai$/, '');
  const baseUrl = `${host}/openai/deployments/${encodeURIComponent(deployment)}`;
  // The body keeps the model's id, because the request is shaped by it: a deployment's name says
  // nothing about the model.
  return [{ name, azure: true, baseUrl, apiKey, apiVersion, api: 'chat', modelId }];
}

function resolveStandard(
  endpoint: OpenAiEndpoint & { type: 'openai' },
  modelId: string,
  apiKey: string,
  env: Environment,
): ResolvedEndpoint[] {
  const baseUrl = standardUrl(endpoint, env);
  const name = hostOf(modelId, endpoint.baseUrl ? '`baseUrl`' : 'OPENAI_BASE_URL', baseUrl);
  return [
    {
      name,
      azure: false,
      baseUrl,
      apiKey,
      apiVersion: undefined,
      api: endpoint.api ?? 'responses',
      modelId,
    },
  ];
}

function hostOf(modelId: string, source: string, url: string): string {
  const expected = isBaseUrl(url);
  refuse(`openai:${modelId}`, '', expected && `${source} must be ${expected}`);
  return new URL(url).host;
}

/** An empty variable counts as one that is not set. */
function setting(env: Environment, name: string): string | undefined {
  return env[name] || undefined;
}
