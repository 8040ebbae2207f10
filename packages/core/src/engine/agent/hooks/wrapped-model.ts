import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Middleware } from '../../../runnables/hooks.ts';

const wrappedModels = new WeakMap<Middleware, WeakMap<LanguageModelV4, LanguageModelV4>>();

/** Returns a model as a middleware wraps it. Each model is wrapped once. */
export function wrapped(middleware: Middleware, model: LanguageModelV4): LanguageModelV4 {
  if (middleware.wrapModel === undefined) return model;
  const known = wrappedModels.get(middleware) ?? new WeakMap<LanguageModelV4, LanguageModelV4>();
  wrappedModels.set(middleware, known);
  const result = known.get(model) ?? middleware.wrapModel(model);
  known.set(model, result);
  return result;
}
