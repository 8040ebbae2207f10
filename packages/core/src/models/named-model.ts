import { isAdjutantError } from '../base/error.ts';
import { InvalidOptionError } from '../base/invalid-option.ts';
import { isModel } from '../base/model-option.ts';
import type { OptionCheck } from '../base/options.ts';
import type { ModelInput } from './model.ts';
import { parseModelName } from './model-name.ts';

/** A model, or the name of one as `parseModelName` reads it: `'openai:gpt-5-mini'`. */
export type NamedModel = ModelInput | string;

const aModel =
  "a model such as openai('gpt-5-mini') or its name 'openai:gpt-5-mini', or an AI SDK model";
const aModelOrList =
  "a model such as openai('gpt-5-mini') or its name 'openai:gpt-5-mini', an AI SDK model, or a " +
  'list of models';

const isOne = (value: unknown): boolean =>
  typeof value === 'string' || isModel(value) === undefined;

/** Requirement on a model or a name. Names are read by `modelOf`. */
export const isNamedModel: OptionCheck = (value) => (isOne(value) ? undefined : aModel);

/** Requirement on a model, a name, or a list of them. */
export const isNamedModelOrList: OptionCheck = (value) => {
  const all = Array.isArray(value) ? value : [value];
  return all.length > 0 && all.every(isOne) ? undefined : aModelOrList;
};

/** The model that is given or named. @throws InvalidModelNameError */
export function modelOf(given: NamedModel): ModelInput {
  return typeof given === 'string' ? parseModelName(given) : given;
}

/**
 * The reason why a name names no model, as the end of a sentence; `undefined` for models and for
 * names of models.
 */
export function wrongName(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  try {
    parseModelName(given);
    return undefined;
  } catch (error) {
    if (!isAdjutantError(error, 'invalid_model_name')) throw error;
    return error.message.replace(/\.$/, '');
  }
}

/**
 * Checks the names among the models of an option.
 * @throws InvalidOptionError
 */
export function assertNames(
  of: { readonly function: string; readonly option: string },
  given: NamedModel | readonly NamedModel[] | undefined,
): void {
  const [wrong] = [given].flat().flatMap((one) => wrongName(one) ?? []);
  if (wrong !== undefined)
    throw new InvalidOptionError({
      function: of.function,
      reason: `\`${of.option}\`: ${wrong}`,
    });
}
