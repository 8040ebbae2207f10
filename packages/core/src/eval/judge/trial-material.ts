import { defined } from '../../base/defined.ts';
import type { JsonValue } from '../../base/json.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { ExpectedResponse } from '../dataset/eval-case.ts';
import type { TrialRecord, TrialToolCall } from '../scorers/scorer.ts';

/** Characters of one tool result that a judge sees. */
const longestResult = 20_000;

/**
 * Returns the material for a judge: the conversation with the tool calls and their results, and the
 * reference answers of the case.
 */
export function trialMaterial(trial: TrialRecord): JsonValue {
  return {
    conversation: trial.turns.map(({ user, texts, toolCalls }, i) => ({
      user,
      toolCalls: toolCalls.map(callMaterial),
      agent: [...texts],
      ...referenceOf(trial.case.turns[i]?.expect?.response),
    })),
    ...referenceOf(trial.case.expect.response),
    ...defined({ endedWith: trial.error?.message }),
  };
}

function callMaterial({ name, args, result }: TrialToolCall): JsonValue {
  if (result === undefined) return { name, args, result: null };
  const text = typeof result.content === 'string' ? result.content : JSON.stringify(result.content);
  const isLong = text.length > longestResult;
  return {
    name,
    args,
    status: result.status,
    result: isLong
      ? `${cutText(text, longestResult)} … (${text.length} characters in all)`
      : result.content,
  };
}

function referenceOf(expected: ExpectedResponse | undefined): {
  readonly referenceAnswer?: string;
} {
  return typeof expected === 'string' ? { referenceAnswer: expected } : {};
}
