import { loadOptionalPackage } from '../base/optional-package.ts';
import { isAnything, isCount } from '../base/options.ts';
import { checkModelId, checkSettings, providerOptions, refuse, type SettingChecks } from './check-settings.ts';
import { MissingKeyError } from './errors.ts';
import { definedOptions, lazyModel, type ProviderSettings } from './lazy-model.ts';
import type { Model } from './model.ts';
import { asksForVertex, resolveVertex, type VertexChoice, vertexOptions } from './vertex.ts';

export interface ClaudeSettings extends ProviderSettings, VertexChoice {
  /** Extended thinking with so many tokens. Models that always think adaptively take `providerOptions` instead. */
  readonly thinking?: { readonly budgetTokens: number };
  /** @default ANTHROPIC_BASE_URL, else https://api.anthropic.com/v1, or the one of the Vertex location */
  readonly baseUrl?: string | undefined;
}

const checks: SettingChecks<ClaudeSettings> = {
  options: { ...providerOptions, ...vertexOptions, vertex: isAnything, thinking: isAnything, baseUrl: isAnything },
  groups: { vertex: vertexOptions, thinking: { budgetTokens: isCount } },
};

/**
 * A Claude model: through `@ai-sdk/anthropic` (`ANTHROPIC_API_KEY`), or, with `vertex` or `project`, through
 * `@ai-sdk/google-vertex`. `more` is merged into `settings`, for those who keep the place and the behaviour apart.
 * @throws InvalidModelError
 */
export function claude(modelId: string, settings: ClaudeSettings = {}, more: ClaudeSettings = {}): Model {
  checkModelId('claude', modelId, "claude('claude-sonnet-4-5')");
  for (const part of [settings, more]) checkSettings(`claude:${modelId}`, part, checks);
  const all = { ...settings, ...more };
  const { thinking } = all;
  refuse(`claude:${modelId}`, '', thinking !== undefined && thinking.budgetTokens === undefined ? '`thinking` needs `budgetTokens`' : undefined);
  const providerOptions = thinking === undefined ? {} : { anthropic: { thinking: { type: 'enabled', budgetTokens: thinking.budgetTokens } } };
  const load = asksForVertex(all) ? loadFromVertex : loadFromAnthropic;
  return lazyModel({ provider: 'claude', modelId }, all, providerOptions, () => load(modelId, all));
}

async function loadFromAnthropic(modelId: string, settings: ClaudeSettings) {
  const model = `claude:${modelId}`;
  const env = settings.env ?? process.env;
  const apiKey = settings.apiKey || env['ANTHROPIC_API_KEY'];
  if (!apiKey) {
    throw new MissingKeyError({
      model,
      variables: ['ANTHROPIC_API_KEY'],
      hint: 'pass `apiKey`, or `vertex: { project, location }` for Google Cloud',
    });
  }
  const { createAnthropic } = await loadOptionalPackage('@ai-sdk/anthropic', `The model ${model}`, () => import('@ai-sdk/anthropic'));
  const baseURL = settings.baseUrl || env['ANTHROPIC_BASE_URL'] || undefined;
  return createAnthropic({ apiKey, ...definedOptions({ baseURL, fetch: settings.fetch }) })(modelId);
}

async function loadFromVertex(modelId: string, settings: ClaudeSettings) {
  const model = `claude:${modelId}`;
  const vertex = resolveVertex(model, settings, settings.env ?? process.env);
  const { createGoogleVertexAnthropic } = await loadOptionalPackage(
    '@ai-sdk/google-vertex',
    `The model ${model} on Vertex AI`,
    () => import('@ai-sdk/google-vertex/anthropic'),
  );
  return createGoogleVertexAnthropic({ ...vertex, ...definedOptions({ baseURL: settings.baseUrl, fetch: settings.fetch }) })(modelId);
}
