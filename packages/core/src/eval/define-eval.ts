import { checkEvalOptions } from './check-eval-options.ts';
import type { EvalOptions } from './eval-options.ts';

/**
 * The same for all copies of the package, so that the command line knows definitions that were made
 * with another one.
 */
const mark = Symbol.for('adjutant.eval');

/**
 * An eval that has been defined: its options. `evaluate({ ...definition, trials: 5 })` runs it with
 * others.
 */
export type EvalDefinition = EvalOptions;

/**
 * Defines an eval, for a module that `adjutant eval` and `evaluate` take. Nothing is run or opened.
 * @throws InvalidEvalError
 */
export function defineEval(options: EvalOptions): EvalDefinition {
  checkEvalOptions(options);
  return Object.freeze(Object.defineProperty({ ...options }, mark, { value: true }));
}

/** Checks that a value was made by `defineEval`. */
export function isEvalDefinition(value: unknown): value is EvalDefinition {
  return typeof value === 'object' && value !== null && mark in value;
}
