import { loadOptionalPackage } from '../../base/optional-package.ts';
import { isAnything, isCount } from '../../base/options.ts';
import {
  checkModelId,
  checkSettings,
  providerOptions,
  refuse,
  type SettingChecks,
} from '../check-settings.ts';
import { MissingKeyError } from '../errors.ts';
import type { Model } from '../model.ts';
import { lowerBudgets } from './efforts.ts';
import { firstKeys, keysOf } from './keys.ts';
import { definedOptions, lazyModel, type OtherWays, type ProviderSettings } from './lazy-model.ts';
import { asksForVertex, resolveVertex, type VertexChoice, vertexOptions } from './vertex.ts';

export interface ClaudeSettings extends ProviderSettings, VertexChoice {
  /**
   * Extended thinking with so many tokens. Models that always think adaptively take
   * `providerOptions` instead.
   */
  readonly thinking?: { readonly budgetTokens: number };
  /**
   * @default ANTHROPIC_BASE_URL, else https://api.anthropic.com/v1, or the one of the Vertex
   * location
   */
  readonly baseUrl?: string | undefined;
}

const checks: SettingChecks<ClaudeSettings> = {
  options: {
    ...providerOptions,
    ...vertexOptions,
    vertex: isAnything,
    thinking: isAnything,
    baseUrl: isAnything,
  },
  groups: { vertex: vertexOptions, thinking: { budgetTokens: isCount } },
};

/**
 * A Claude model: through `@ai-sdk/anthropic` (`ANTHROPIC_API_KEY`), or, with `vertex` or
 * `project`, through `@ai-sdk/google-vertex`. `more` is merged into `settings`, for those who keep
 * the place and the behaviour apart.
 * @throws InvalidModelError
 * @example
 * ```ts
 * import { agent, claude } from 'adjutant';
 *
 * export const writer = agent({ name: 'writer', model: claude('claude-sonnet-4-5') });
 * ```
 */
export function claude(
  modelId: string,
  settings: ClaudeSettings = {},
  more: ClaudeSettings = {},
): Model {
  checkModelId('claude', modelId, "claude('claude-sonnet-4-5')");
  for (const part of [settings, more]) checkSettings(`claude:${modelId}`, part, checks);
  const all = { ...settings, ...more };
  const { thinking } = all;
  refuse(
    `claude:${modelId}`,
    '',
    thinking !== undefined && thinking.budgetTokens === undefined
      ? '`thinking` needs `budgetTokens`'
      : undefined,
  );
  // `providerOptions` win over the settings: thinking that is configured there stays as it is.
  const budgets =
    all.providerOptions?.['anthropic']?.['thinking'] === undefined
      ? lowerBudgets(thinking?.budgetTokens)
      : [];
  return claudeModel(modelId, all, 1, {
    countKeys: () => (asksForVertex(all) ? 1 : anthropicKeys(all).length),
    efforts: budgets.map((budgetTokens) => ({
      name: `${budgetTokens} thinking tokens`,
      settings: { ...all, thinking: { budgetTokens } },
    })),
    make: (other, key) => claudeModel(modelId, other, key, undefined),
  });
}

function claudeModel(
  modelId: string,
  settings: ClaudeSettings,
  key: number,
  otherWays: OtherWays<ClaudeSettings> | undefined,
): Model {
  const { thinking } = settings;
  const providerOptions =
    thinking === undefined
      ? {}
      : { anthropic: { thinking: { type: 'enabled', budgetTokens: thinking.budgetTokens } } };
  const load = asksForVertex(settings)
    ? () => loadFromVertex(modelId, settings)
    : () => loadFromAnthropic(modelId, settings, key);
  return lazyModel({ provider: 'claude', modelId }, settings, providerOptions, load, otherWays);
}

function anthropicKeys(settings: ClaudeSettings): readonly string[] {
  return firstKeys(settings.apiKey, keysOf((settings.env ?? process.env)['ANTHROPIC_API_KEY']));
}

async function loadFromAnthropic(modelId: string, settings: ClaudeSettings, key: number) {
  const model = `claude:${modelId}`;
  const apiKey = anthropicKeys(settings)[key - 1];
  if (apiKey === undefined) {
    throw new MissingKeyError({
      model,
      variables: ['ANTHROPIC_API_KEY'],
      hint: 'pass `apiKey`, or `vertex: { project, location }` for Google Cloud',
    });
  }
  const { createAnthropic } = await loadOptionalPackage(
    '@ai-sdk/anthropic',
    `The model ${model}`,
    () => import('@ai-sdk/anthropic'),
  );
  const baseURL =
    settings.baseUrl || (settings.env ?? process.env)['ANTHROPIC_BASE_URL'] || undefined;
  return createAnthropic({ apiKey, ...definedOptions({ baseURL, fetch: settings.fetch }) })(
    modelId,
  );
}

async function loadFromVertex(modelId: string, settings: ClaudeSettings) {
  const model = `claude:${modelId}`;
  const vertex = resolveVertex(model, settings, settings.env ?? process.env);
  const { createGoogleVertexAnthropic } = await loadOptionalPackage(
    '@ai-sdk/google-vertex',
    `The model ${model} on Vertex AI`,
    () => import('@ai-sdk/google-vertex/anthropic'),
  );
  return createGoogleVertexAnthropic({
    ...vertex,
    ...definedOptions({ baseURL: settings.baseUrl, fetch: settings.fetch }),
  })(modelId);
}
