import { AdjutantError } from '../../base/error.ts';

/** The result of a custom scorer is no score. */
export class InvalidScoreError extends AdjutantError {
  constructor(data: { scorer: string; reason: string }) {
    super('invalid_score', `The scorer "${data.scorer}" gave no score: ${data.reason}.`, data);
  }
}
