import { findInvalidOption, isAnything, isOneOf, isText, type OptionChecks } from '../base/options.ts';
import { checkSecrets, isBaseUrl, refuse } from './check-settings.ts';
import { MissingKeyError } from './errors.ts';

/** A place that serves OpenAI models. What is left out comes from the environment. */
export type OpenAiEndpoint =
  | {
      readonly type: 'azure';
      /** The resource, such as `https://my-resource.openai.azure.com`. @default AZURE_OPENAI_ENDPOINT */
      readonly baseUrl?: string | undefined;
      /** @default AZURE_OPENAI_API_KEY */
      readonly apiKey?: string | undefined;
      /** @default AZURE_OPENAI_API_VERSION, else 2025-01-01-preview */
      readonly apiVersion?: string | undefined;
    }
  | {
      readonly type: 'openai';
      /** @default OPENAI_BASE_URL, else https://api.openai.com/v1 */
      readonly baseUrl?: string | undefined;
      /** @default OPENAI_EU_API_KEY, else OPENAI_API_KEY, for the EU endpoint; OPENAI_API_KEY for others */
      readonly apiKey?: string | undefined;
      /** Which API to speak. @default 'responses' */
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
    refuse(model, place, findInvalidOption<object>(endpoint, type === 'azure' ? azureOptions : standardOptions)?.reason);
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
  /** What the body calls the model: its id, or the deployment's name for Azure's v1 API. */
  readonly modelId: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const euBaseUrl = 'https://eu.api.openai.com/v1';
const standardBaseUrl = 'https://api.openai.com/v1';
const defaultAzureApiVersion = '2025-01-01-preview';

/**
 * The endpoints that can be called, in order.
 * @throws MissingKeyError when there is none
 * @throws InvalidModelError when an address cannot be used
 */
export function resolveOpenAiEndpoints(
  modelId: string,
  settings: {
    readonly apiKey?: string | undefined;
    readonly endpoints?: readonly OpenAiEndpoint[];
    readonly deployments?: Readonly<Record<string, string>>;
  },
  env: Environment,
): readonly ResolvedEndpoint[] {
  const wanted = settings.endpoints ?? defaultEndpoints(settings.apiKey, env);
  const deployment = settings.deployments?.[modelId] ?? modelId;
  const resolved = wanted.flatMap((endpoint) =>
    endpoint.type === 'azure' ? resolveAzure(endpoint, modelId, deployment, env) : resolveStandard(endpoint, modelId, settings.apiKey, env),
  );
  if (resolved.length > 0) return resolved;
  throw new MissingKeyError({
    model: `openai:${modelId}`,
    variables: ['OPENAI_API_KEY', 'OPENAI_EU_API_KEY', 'AZURE_OPENAI_ENDPOINT with AZURE_OPENAI_API_KEY'],
    hint: 'pass `apiKey` or `endpoints`',
  });
}

function defaultEndpoints(apiKey: string | undefined, env: Environment): readonly OpenAiEndpoint[] {
  if (apiKey !== undefined) return [{ type: 'openai', apiKey }];
  return [
    { type: 'azure' },
    ...(setting(env, 'OPENAI_EU_API_KEY') === undefined ? [] : [{ type: 'openai' as const, baseUrl: euBaseUrl }]),
    { type: 'openai' },
  ];
}

function resolveAzure(endpoint: OpenAiEndpoint & { type: 'azure' }, modelId: string, deployment: string, env: Environment): ResolvedEndpoint[] {
  const given = endpoint.baseUrl || setting(env, 'AZURE_OPENAI_ENDPOINT');
  const apiKey = endpoint.apiKey || setting(env, 'AZURE_OPENAI_API_KEY');
  if (given === undefined || apiKey === undefined) return [];
  const resource = given.replace(/\/+$/, '');
  const name = hostOf(modelId, endpoint.baseUrl ? '`baseUrl`' : 'AZURE_OPENAI_ENDPOINT', resource);
  if (resource.endsWith('/openai/v1')) {
    return [{ name, azure: true, baseUrl: resource, apiKey, apiVersion: undefined, api: 'chat', modelId: deployment }];
  }
  const apiVersion = endpoint.apiVersion || setting(env, 'AZURE_OPENAI_API_VERSION') || defaultAzureApiVersion;
  const baseUrl = `${resource.replace(/\/openai$/, '')}/openai/deployments/${encodeURIComponent(deployment)}`;
  // The body keeps the model's id, because the request is shaped by it: a deployment's name says nothing about the model.
  return [{ name, azure: true, baseUrl, apiKey, apiVersion, api: 'chat', modelId }];
}

function resolveStandard(
  endpoint: OpenAiEndpoint & { type: 'openai' },
  modelId: string,
  directKey: string | undefined,
  env: Environment,
): ResolvedEndpoint[] {
  const baseUrl = endpoint.baseUrl || setting(env, 'OPENAI_BASE_URL') || standardBaseUrl;
  const isEu = baseUrl.replace(/\/+$/, '') === euBaseUrl;
  const apiKey = endpoint.apiKey || directKey || (isEu ? setting(env, 'OPENAI_EU_API_KEY') : undefined) || setting(env, 'OPENAI_API_KEY');
  if (apiKey === undefined) return [];
  const name = hostOf(modelId, endpoint.baseUrl ? '`baseUrl`' : 'OPENAI_BASE_URL', baseUrl);
  return [{ name, azure: false, baseUrl, apiKey, apiVersion: undefined, api: endpoint.api ?? 'responses', modelId }];
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
