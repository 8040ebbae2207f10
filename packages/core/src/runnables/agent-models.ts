import { isAdjutantError } from '../base/error.ts';
import { isModel } from '../base/model-option.ts';
import type { OptionCheck } from '../base/options.ts';
import type { ModelInput } from '../models/model.ts';
import { parseModelName } from '../models/model-name.ts';
import { InvalidDefinitionError } from './errors.ts';

/** A model, or the name of one as `parseModelName` reads it: `'openai:gpt-5-mini'`. */
export type NamedModel = ModelInput | string;

const aModel =
  "a model such as openai('gpt-5-mini') or its name 'openai:gpt-5-mini', an AI SDK model, or a " +
  'list of models';

const isOne = (value: unknown): boolean =>
  typeof value === 'string' || isModel(value) === undefined;

/** Requirement on the option `model` of an agent. Names are read by `modelsOf`. */
export const isNamedModelOrList: OptionCheck = (value) => {
  const all = Array.isArray(value) ? value : [value];
  return all.length > 0 && all.every(isOne) ? undefined : aModel;
};

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
  const toInput = (one: NamedModel): ModelInput =>
    typeof one === 'string' ? read(name, one) : one;
  // A definition that is spread into new options brings its own fallback models.
  const isList = Array.isArray(given.model);
  const [first, ...others] = [given.model].flat() as [NamedModel, ...NamedModel[]];
  const fallbacks = isList ? others : (given.fallbackModels ?? []);
  return { model: toInput(first), fallbackModels: Object.freeze(fallbacks.map(toInput)) };
}

function read(agent: string, name: string): ModelInput {
  try {
    return parseModelName(name);
  } catch (cause) {
    if (!isAdjutantError(cause)) throw cause;
    const reason = cause.message.replace(/\.$/, '');
    throw new InvalidDefinitionError({ kind: 'agent', name: agent, reason }, { cause });
  }
}
