import { checkOptions } from '../../base/invalid-option.ts';
import type { OptionCheck } from '../../base/options.ts';
import type { ModelInput } from '../../models/model.ts';
import { realModels, setRealModels } from '../../models/real-models.ts';

export interface ForbidRealModelsOptions {
  /**
   * Models that may be called all the same. Either names like `openai:gpt-5`, with `*` at the end
   * for all that begin so (`ollama:*`), or the models themselves, such as a fake of your own.
   * @default none
   */
  readonly allow?: readonly (string | ModelInput)[];
}

const isAllowList: OptionCheck = (value) => {
  const isModel = (one: unknown): boolean => {
    const { provider, modelId } = (one ?? {}) as Partial<ModelInput>;
    return typeof provider === 'string' && typeof modelId === 'string';
  };
  const fits =
    Array.isArray(value) &&
    value.every(
      (one) => (typeof one === 'string' && one !== '') || (typeof one === 'object' && isModel(one)),
    );
  return fits ? undefined : 'a list of models and of names such as "openai:gpt-5" or "ollama:*"';
};

/**
 * From now on, forbids calls of models that are neither scripted nor the rehearsal model. Such a
 * call ends its agent with the error `real_model_forbidden`, before the model is loaded. This holds
 * in the whole process, for every copy of Adjutant. Neither fallback models nor hooks answer in its
 * place. The environment variable `ADJUTANT_REAL_MODELS=forbid` does the same from the start.
 *
 * @returns a function that restores the setting before
 * @throws InvalidOptionError
 */
export function forbidRealModels(options: ForbidRealModelsOptions = {}): () => void {
  checkOptions('forbidRealModels', options, { allow: isAllowList });
  const before = setRealModels({
    forbidden: true,
    allow: [...(options.allow ?? [])],
    by: 'forbidRealModels()',
  });
  return () => void setRealModels(before);
}

/**
 * Allows calls of real models from now on, even if the environment forbids them.
 * @returns a function that restores the setting before
 */
export function allowRealModels(): () => void {
  const before = setRealModels({ forbidden: false });
  return () => void setRealModels(before);
}

/** True when real models are forbidden at the moment. */
export function areRealModelsForbidden(): boolean {
  return realModels().forbidden;
}
