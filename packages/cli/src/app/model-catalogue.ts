import { isAdjutantError, parseModelName } from 'adjutant';
import { modelFacts } from 'adjutant/ports';
import type { Environment } from '../host/host.ts';

/** Models of providers that are offered, besides those that an app has. */
const offered: readonly string[] = [
  'openai:gpt-5-mini',
  'openai:gpt-5',
  'gemini:gemini-3-flash-preview',
  'gemini:gemini-3-pro-preview',
  'claude:claude-haiku-4-5',
  'claude:claude-sonnet-4-5',
];

/** A model with the facts by which people choose one. */
export interface OfferedModel {
  readonly name: string;
  readonly facts: readonly string[];
}

/**
 * Models that can be chosen: those that are given, those of a local server, and some of each
 * provider, with their windows and prices, or with what is missing.
 */
export async function offeredModels(
  given: readonly string[],
  local: readonly string[],
  env: Environment,
): Promise<readonly OfferedModel[]> {
  const ofServer = local.map((model) => `ollama:${model.replace(/:latest$/, '')}`);
  const names = [...new Set([...given, ...ofServer, ...offered])];
  return Promise.all(names.map((name) => withFacts(name, env)));
}

async function withFacts(name: string, env: Environment): Promise<OfferedModel> {
  try {
    const model = parseModelName(name, env);
    await model.load();
    const { contextWindow, price } = modelFacts(model);
    const cost = price === undefined ? 'price not known' : `$${price.input}/$${price.output} per M`;
    return { name, facts: [`${Math.round(contextWindow / 1_000)}k`, cost] };
  } catch (error) {
    return { name, facts: [problemOf(error)] };
  }
}

function problemOf(error: unknown): string {
  if (isAdjutantError(error, 'missing_key'))
    return `no key: ${String([error.data['variables']].flat()[0])}`;
  if (isAdjutantError(error, 'missing_package')) return 'its package is not installed';
  return 'of this app only';
}
