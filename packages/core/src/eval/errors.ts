import { AdjutantError } from '../base/error.ts';

/** An eval cannot be carried out as it is defined. */
export class InvalidEvalError extends AdjutantError {
  constructor(data: { name?: string; reason: string }) {
    const name = data.name === undefined ? '' : ` "${data.name}"`;
    super('invalid_eval', `The eval${name} cannot be carried out: ${data.reason}.`, data);
  }
}
