import { AdjutantError } from '../../base/error.ts';

/**
 * An eval was stopped while this was under way: it goes on from where it is when the eval is
 * continued.
 */
export class EvalStoppedError extends AdjutantError {
  constructor() {
    super(
      'eval_stopped',
      'The eval was stopped. Evaluate again with the same `runId`, or with `continue: ' +
        'true`, to go on.',
    );
  }
}

/** A case has a scenario, and there is nobody to play its user. */
export class UserModelMissingError extends AdjutantError {
  constructor(data: { case: string }) {
    super(
      'user_model_missing',
      `The case "${data.case}" is a scenario: give the model that plays its user as \`userModel\`.`,
      data,
    );
  }
}

/** Something of a trial besides its run took longer than a trial may. */
export class TrialTimeoutError extends AdjutantError {
  constructor(data: { what: string; timeout: number }) {
    super(
      'trial_timeout',
      `${data.what} took longer than ${data.timeout} ms, which is the \`timeout\` of a trial.`,
      data,
    );
  }
}
