import type { ModelAnswer } from './answer.ts';
import type { ModelErrorKind } from './error-kind.ts';

/** A fault of an answer, with the fields for a `ModelError`. */
export interface AnswerProblem {
  readonly kind: Extract<
    ModelErrorKind,
    'content_filter' | 'refusal' | 'output_limit' | 'context_overflow' | 'malformed'
  >;
  /** True when the same call may give another answer. */
  readonly retryable: boolean;
  readonly detail: string;
  /**
   * True when the text of the answer is worth showing if no other model is left: the words of a
   * refusal, or the text before a filter stepped in.
   */
  readonly usable: boolean;
}

const longestQuote = 300;

/**
 * Returns the fault of an answer that was refused, withheld, cut off before its first word, or
 * empty; `undefined` for every other answer.
 */
export function answerProblem(answer: ModelAnswer): AnswerProblem | undefined {
  const { finishReason, rawFinishReason } = answer;
  const hasText = answer.texts.some(({ text }) => text.trim() !== '');
  if (finishReason === 'content-filter') return filtered(answer, rawFinishReason, hasText);
  if (hasText || answer.toolCalls.length > 0) return undefined;
  if (finishReason === 'length') return cutOff(answer, rawFinishReason);
  return {
    kind: 'malformed',
    retryable: true,
    detail: `the answer was empty (finish reason: ${finishReason ?? 'none'})`,
    usable: false,
  };
}

/**
 * The AI SDK has one finish reason for a model that refuses and for a filter that steps in. It was
 * the model when Anthropic's reason is `refusal`, or when OpenAI says that the answer ended as
 * usual: its refusal is a part of the answer, which the AI SDK gives as text.
 */
function filtered(answer: ModelAnswer, raw: string | undefined, hasText: boolean): AnswerProblem {
  // Text that Anthropic streamed before a refusal is dropped: it is no refusal in words.
  const usable = hasText && answer.toolCalls.length === 0 && raw !== 'refusal';
  const refused = raw === 'refusal' || (hasText && (raw === undefined || raw === 'stop'));
  if (!refused)
    return { kind: 'content_filter', retryable: false, detail: 'the answer was withheld', usable };
  const words = usable
    ? answer.texts
        .map(({ text }) => text)
        .join('')
        .trim()
    : '';
  const detail =
    words === ''
      ? 'the model refused to answer'
      : words.length <= longestQuote
        ? words
        : `${words.slice(0, longestQuote)}…`;
  return { kind: 'refusal', retryable: false, detail, usable };
}

function cutOff(answer: ModelAnswer, raw: string | undefined): AnswerProblem {
  if (raw === 'model_context_window_exceeded') {
    return {
      kind: 'context_overflow',
      retryable: false,
      detail: 'the context window was full before the answer began',
      usable: false,
    };
  }
  const reasoned = answer.thoughts.length > 0 || (answer.usage?.reasoningTokens ?? 0) > 0;
  const detail =
    'the answer was cut off before its first word: ' +
    `${reasoned ? 'reasoning used up the output tokens' : 'too few output tokens were allowed'}`;
  return { kind: 'output_limit', retryable: false, detail, usable: false };
}
