import { type Model, modelFromEnvironment, parseModelName, rehearsal } from 'adjutant';
import type { Environment } from '../host/host.ts';

export interface ModelChoice {
  readonly model: Model;
  /** True when no model was named, so that the rehearsal model stands in. */
  readonly isStandIn: boolean;
}

/**
 * Returns the model of `--model`, else that of the environment, else the rehearsal model.
 * @throws InvalidModelNameError
 */
export function chooseModel(name: string | undefined, env: Environment): ModelChoice {
  const named = name === undefined ? modelFromEnvironment(env) : parseModelName(name, env);
  return named === undefined
    ? { model: rehearsal(), isStandIn: true }
    : { model: named, isStandIn: false };
}

export const standInNotice =
  'No model is set up: the rehearsal model answers (rules, not a language model). ' +
  'For a real one set OPENAI_API_KEY, GEMINI_API_KEY or ANTHROPIC_API_KEY, or name one ' +
  'with --model, such as ollama:qwen3.';
