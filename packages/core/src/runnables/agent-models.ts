import type { ModelInput } from '../models/model.ts';
import { modelOf, type NamedModel, wrongName } from '../models/named-model.ts';
import { InvalidDefinitionError } from './errors.ts';

/**
 * Returns the models of an agent, with models in the place of names.
 * @throws InvalidDefinitionError for a name that names no model
 */
export function modelsOf(
  name: string,
  given: {
    readonly model: NamedModel | readonly NamedModel[];
    readonly fallbackModels?: readonly NamedModel[];
  },
): { readonly model: ModelInput; readonly fallbackModels: readonly ModelInput[] } {
  const toInput = (one: NamedModel): ModelInput => {
    const reason = wrongName(one);
    if (reason !== undefined) throw new InvalidDefinitionError({ kind: 'agent', name, reason });
    return modelOf(one);
  };
  // A definition that is spread into new options brings its own fallback models.
  const isList = Array.isArray(given.model);
  const [first, ...others] = [given.model].flat() as [NamedModel, ...NamedModel[]];
  const fallbacks = isList ? others : (given.fallbackModels ?? []);
  return { model: toInput(first), fallbackModels: Object.freeze(fallbacks.map(toInput)) };
}
