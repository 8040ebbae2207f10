import { loadOptionalPackage } from '../../base/optional-package.ts';
import { isAnything, isCountOrNone, isFlag, isOneOf } from '../../base/options.ts';
import {
  checkModelId,
  checkSettings,
  providerOptions,
  type SettingChecks,
} from '../check-settings.ts';
import { MissingKeyError } from '../errors.ts';
import type { Model } from '../model.ts';
import { type LowerEffort, lowerBudgets } from './efforts.ts';
import { firstKeys, keysOf } from './keys.ts';
import { definedOptions, lazyModel, type OtherWays, type ProviderSettings } from './lazy-model.ts';
import { asksForVertex, resolveVertex, type VertexChoice, vertexOptions } from './vertex.ts';

export interface GeminiSettings extends ProviderSettings, VertexChoice {
  readonly thinkingConfig?: {
    /** Tokens for thinking. */
    readonly thinkingBudget?: number;
    readonly thinkingLevel?: 'minimal' | 'low' | 'medium' | 'high';
    /** Streams and records the thoughts. */
    readonly includeThoughts?: boolean;
  };
  /**
   * @default https://generativelanguage.googleapis.com/v1beta, or the one of the Vertex location
   */
  readonly baseUrl?: string | undefined;
}

const checks: SettingChecks<GeminiSettings> = {
  options: {
    ...providerOptions,
    ...vertexOptions,
    vertex: isAnything,
    thinkingConfig: isAnything,
    baseUrl: isAnything,
  },
  groups: {
    vertex: vertexOptions,
    thinkingConfig: {
      thinkingBudget: isThinkingBudget,
      thinkingLevel: isOneOf('minimal', 'low', 'medium', 'high'),
      includeThoughts: isFlag,
    },
  },
};

/** Gemini takes -1 for "as much as you think fit". */
function isThinkingBudget(value: unknown): string | undefined {
  return value === -1 ? undefined : isCountOrNone(value);
}

/**
 * A Gemini model: through `@ai-sdk/google` from AI Studio (`GEMINI_API_KEY` or
 * `GOOGLE_GENERATIVE_AI_API_KEY`), or, with `vertex` or `project`, through `@ai-sdk/google-vertex`.
 * @throws InvalidModelError
 * @example
 * ```ts
 * import { agent, gemini } from 'adjutant';
 *
 * export const writer = agent({ name: 'writer', model: gemini('gemini-3-flash') });
 * ```
 */
export function gemini(modelId: string, settings: GeminiSettings = {}): Model {
  checkModelId('gemini', modelId, "gemini('gemini-3-flash-preview')");
  checkSettings(`gemini:${modelId}`, settings, checks);
  return geminiModel(modelId, settings, 1, {
    countKeys: () => (asksForVertex(settings) ? 1 : aiStudioKeys(settings).length),
    efforts: lowerEfforts(settings),
    make: (other, key) => geminiModel(modelId, other, key, undefined),
  });
}

function lowerEfforts(settings: GeminiSettings): readonly LowerEffort<GeminiSettings>[] {
  const { thinkingConfig } = settings;
  // `providerOptions` win over the settings: thinking that is configured there stays as it is.
  if (
    thinkingConfig === undefined ||
    settings.providerOptions?.['google']?.['thinkingConfig'] !== undefined
  )
    return [];
  const { thinkingLevel, thinkingBudget } = thinkingConfig;
  // Gemini 3 Pro knows only low and high.
  if (thinkingLevel === 'high' || thinkingLevel === 'medium') {
    return [
      {
        name: 'low thinking',
        settings: { ...settings, thinkingConfig: { ...thinkingConfig, thinkingLevel: 'low' } },
      },
    ];
  }
  return lowerBudgets(thinkingBudget).map((budget) => ({
    name: `${budget} thinking tokens`,
    settings: { ...settings, thinkingConfig: { ...thinkingConfig, thinkingBudget: budget } },
  }));
}

function geminiModel(
  modelId: string,
  settings: GeminiSettings,
  key: number,
  otherWays: OtherWays<GeminiSettings> | undefined,
): Model {
  const thinkingConfig =
    settings.thinkingConfig === undefined ? undefined : definedOptions(settings.thinkingConfig);
  const load = asksForVertex(settings)
    ? () => loadFromVertex(modelId, settings)
    : () => loadFromAiStudio(modelId, settings, key);
  return lazyModel(
    { provider: 'gemini', modelId },
    settings,
    thinkingConfig === undefined ? {} : { google: { thinkingConfig } },
    load,
    otherWays,
  );
}

function aiStudioKeys(settings: GeminiSettings): readonly string[] {
  const env = settings.env ?? process.env;
  return firstKeys(
    settings.apiKey,
    keysOf(env['GEMINI_API_KEY']),
    keysOf(env['GOOGLE_GENERATIVE_AI_API_KEY']),
  );
}

async function loadFromAiStudio(modelId: string, settings: GeminiSettings, key: number) {
  const model = `gemini:${modelId}`;
  const apiKey = aiStudioKeys(settings)[key - 1];
  if (apiKey === undefined) {
    const variables = ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'];
    throw new MissingKeyError({
      model,
      variables,
      hint: 'pass `apiKey`, or `vertex: { project, location }` for Google Cloud',
    });
  }
  const { createGoogle } = await loadOptionalPackage(
    '@ai-sdk/google',
    `The model ${model}`,
    () => import('@ai-sdk/google'),
  );
  return createGoogle({
    apiKey,
    ...definedOptions({ baseURL: settings.baseUrl, fetch: settings.fetch }),
  })(modelId);
}

async function loadFromVertex(modelId: string, settings: GeminiSettings) {
  const model = `gemini:${modelId}`;
  const vertex = resolveVertex(model, settings, settings.env ?? process.env);
  const { createGoogleVertex } = await loadOptionalPackage(
    '@ai-sdk/google-vertex',
    `The model ${model} on Vertex AI`,
    () => import('@ai-sdk/google-vertex'),
  );
  return createGoogleVertex({
    ...vertex,
    ...definedOptions({ baseURL: settings.baseUrl, fetch: settings.fetch }),
  })(modelId);
}
