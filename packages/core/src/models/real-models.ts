import { AdjutantError } from '../base/error.ts';
import { type Model, type ModelInput, modelName, toModel } from './model.ts';
import { isTestModel } from './test-model-mark.ts';

const place = Symbol.for('adjutant.real_models');
const variable = 'ADJUTANT_REAL_MODELS';

/** The models that may be called: all of them, or only those in the list, besides test models. */
export type RealModels =
  | { readonly forbidden: false }
  | {
      readonly forbidden: true;
      readonly allow: readonly (string | ModelInput)[];
      readonly by: string;
    };

type Holder = typeof globalThis & { [place]?: RealModels };

/** A model was about to be called where real models are forbidden. */
export class RealModelForbiddenError extends AdjutantError {
  constructor(data: { model: string; by: string }) {
    super(
      'real_model_forbidden',
      `The model ${data.model} was about to be called, and real models are forbidden here ` +
        `(${data.by}). Give the agent a scripted model or run it with ` +
        'runTest(); if the call is meant, allow it: forbidRealModels({ allow: ' +
        `['${data.model}'] }) or allowRealModels(), both of adjutant/testing.`,
      data,
    );
  }
}

/**
 * `ADJUTANT_REAL_MODELS` has a value without a meaning. The run stops: otherwise forbidden models
 * could be called.
 */
export class InvalidRealModelsError extends AdjutantError {
  constructor(data: { value: string }) {
    super(
      'invalid_real_models',
      `The environment variable ${variable} must be "forbid" or "allow", not ` +
        `${JSON.stringify(data.value)}.`,
      data,
    );
  }
}

/** The rule of this process, for all copies of this package. The environment is read once. */
export function realModels(): RealModels {
  const holder = globalThis as Holder;
  holder[place] ??= fromEnvironment(process.env[variable]);
  return holder[place];
}

/** @returns the rule before */
export function setRealModels(next: RealModels): RealModels {
  const before = realModels();
  (globalThis as Holder)[place] = next;
  return before;
}

function fromEnvironment(value = ''): RealModels {
  if (value === '' || value === 'allow') return { forbidden: false };
  if (value !== 'forbid') throw new InvalidRealModelsError({ value });
  return { forbidden: true, allow: [], by: `${variable}=forbid` };
}

/** The error that a call of this model is, or `undefined` when it may be made. */
export function forbiddenModel(model: Model): AdjutantError | undefined {
  const state = realModels();
  if (!state.forbidden || isTestModel(model)) return undefined;
  const name = modelName(model);
  return state.allow.some((allowed) => isAllowed(allowed, model, name))
    ? undefined
    : new RealModelForbiddenError({ model: name, by: state.by });
}

function isAllowed(allowed: string | ModelInput, model: Model, name: string): boolean {
  if (typeof allowed === 'string')
    return allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : name === allowed;
  return allowed === model || toModel(allowed) === model;
}
