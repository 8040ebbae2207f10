import { defined } from '../../../base/defined.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { EndedAttempt } from '../../../effects/tool-call/supervisor.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import { isSuccess } from '../../../ledger/tool-result.ts';
import type { Supervision } from '../../../supervision/options.ts';
import { checkResult } from '../../../supervision/result-check.ts';
import type { Outcome, ResultStage } from './stage.ts';

/** Marks successful results that are doubtful. */
export class ResultCheckStage implements ResultStage {
  readonly #path: string;
  readonly #options: Supervision['results'];

  constructor(path: string, options: Supervision['results']) {
    this.#path = path;
    this.#options = options;
  }

  after({ tool, args }: EndedAttempt, outcome: Outcome): void {
    if (this.#options === undefined || !isSuccess(outcome.result)) return;
    const { name, readOnly, check } = tool;
    const doubt = checkResult(
      { name, args: args as JsonValue, readOnly, check },
      outcome.result,
      this.#options,
    );
    if (doubt === undefined) return;
    outcome.result = doubt.result;
    outcome.notes = [...outcome.notes, ...doubt.notes];
    const { confidence } = doubt.result;
    const draft = decision('result_check', 'doubt', {
      invocationId: this.#path,
      reasoning: doubt.reasoning,
      alternatives: ['take it as it is', 'refuse it'],
      data: {
        tool: name,
        check: doubt.check,
        ...defined({ confidence }),
      },
    });
    outcome.drafts = [...outcome.drafts, draft];
  }
}
