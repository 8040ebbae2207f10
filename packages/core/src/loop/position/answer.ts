import type { JsonValue } from '../../base/json.ts';
import type { EventOf } from '../../ledger/event.ts';

/** Last answer of the model, and the rounds that repaired answers. */
export interface AnswerState {
  /** Joined texts of the last answer. */
  text: string;
  /**
   * Text of the last answer with text, of any round. It is the only output when a limit cuts the
   * answer off.
   */
  lastText: string;
  /** Last answer as parsed by the output schema. */
  parsed: JsonValue | undefined;
  /**
   * True when the last answer does not fit the output schema. It is then no answer, and the model
   * is asked for another.
   */
  isUnfit: boolean;
  /** Number of repair rounds after answers that did not fit the output schema. */
  repairs: number;
  /** Number of rounds after answers that did not meet the goal. */
  goalRounds: number;
}

export function startAnswer(): AnswerState {
  return {
    text: '',
    lastText: '',
    parsed: undefined,
    isUnfit: false,
    repairs: 0,
    goalRounds: 0,
  };
}

/** Folds the start of a model call, which gives another answer. */
export function beginAnswer(answer: AnswerState): void {
  answer.text = '';
  answer.parsed = undefined;
  answer.isUnfit = false;
}

/** Folds a text of the answer. */
export function addText(answer: AnswerState, { text, output }: EventOf<'assistant'>): void {
  if (output !== undefined) answer.parsed = output;
  answer.text += text;
  answer.lastText = answer.text;
}

/** Folds the reopening of the invocation, which grants all repairs and goal rounds again. */
export function reopenAnswer(answer: AnswerState): void {
  answer.repairs = 0;
  answer.goalRounds = 0;
}
