import { modelFromEnvironment } from 'adjutant';
import type { Environment } from '../host/host.ts';
import type { Choice } from './choose.ts';

/** Variables that make a provider usable, in the order in which models are offered. */
const keys: readonly (readonly string[])[] = [
  ['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_API_KEY'],
  ['OPENAI_EU_API_KEY'],
  ['OPENAI_API_KEY'],
  ['GEMINI_API_KEY'],
  ['GOOGLE_GENERATIVE_AI_API_KEY'],
  ['ANTHROPIC_API_KEY'],
];
const rehearsal: Choice = { value: 'rehearsal', label: 'rehearsal' };
/** Models of a local server that are offered. */
const mostLocal = 3;

/**
 * Models that can be used here: that of ADJUTANT_MODEL, those of the keys that are set, those of a
 * local server, and at last the model made of rules.
 */
export function modelChoices(env: Environment, local: readonly string[]): readonly Choice[] {
  const named = env['ADJUTANT_MODEL'];
  const given = named ? [{ value: named, label: `${named} (ADJUTANT_MODEL)` }] : [];
  const byKey = keys
    .filter((variables) => variables.every((name) => env[name]))
    .flatMap((variables) => choiceOf(variables, env));
  const ofServer = local.slice(0, mostLocal).map((model) => {
    const value = `ollama:${model.replace(/:latest$/, '')}`;
    return { value, label: value };
  });
  const all = [...given, ...byKey, ...ofServer, rehearsal];
  return all.filter(({ value }, at) => all.findIndex((one) => one.value === value) === at);
}

function choiceOf(variables: readonly string[], env: Environment): readonly Choice[] {
  const only = Object.fromEntries(variables.map((name) => [name, env[name]]));
  const model = modelFromEnvironment(only);
  if (model === undefined) return [];
  const value = `${model.provider}:${model.modelId}`;
  return [{ value, label: `${value} (${variables.at(-1)} found)` }];
}

const localModels = 'http://127.0.0.1:11434/api/tags';
const longestWaitMs = 400;

/** Names of the models of an ollama on this machine. None answers: none. */
export async function modelsOfOllama(): Promise<readonly string[]> {
  try {
    const answer = await fetch(localModels, { signal: AbortSignal.timeout(longestWaitMs) });
    const { models } = (await answer.json()) as { readonly models?: unknown };
    if (!Array.isArray(models)) return [];
    return models
      .map((model) => (model as { readonly name?: unknown } | null)?.name)
      .filter((name): name is string => typeof name === 'string' && /^[\w.:/-]+$/.test(name));
  } catch {
    return [];
  }
}
