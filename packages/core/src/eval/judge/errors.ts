import type { ErrorRecord } from '../../base/error.ts';
import { AdjutantError } from '../../base/error.ts';
import { asJson } from '../../base/json.ts';

/** A judge model gave no verdict. The same eval, continued, asks it again. */
export class JudgeFailedError extends AdjutantError {
  constructor(data: { scorer: string; session: string; status: string; error?: ErrorRecord }) {
    const reason = data.error === undefined ? `its run is ${data.status}` : data.error.message;
    super(
      'judge_failed',
      `The judge of "${data.scorer}" gave no verdict: ${reason.replace(/\.$/, '')}. Its ` +
        `run is session "${data.session}".`,
      asJson(data),
    );
  }
}
