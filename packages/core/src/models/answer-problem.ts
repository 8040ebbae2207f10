import type { ModelAnswer } from './call.ts';
import type { ModelErrorKind } from './classify.ts';

/** Why an answer is not what was asked for, with what a `ModelError` is made of. */
export interface AnswerProblem {
  readonly kind: Extract<
    ModelErrorKind,
    'content_filter' | 'refusal' | 'output_limit' | 'context_overflow' | 'malformed'
  >;
  /** Whether the same call may give something else. */
  readonly retryable: boolean;
  readonly detail: string;
  /**
   * The answer has a text that is worth to be given when no other model is left: the words of a
   * refusal, or what came before a filter stepped in.
   */
  readonly usable: boolean;
}

const longestQuote = 300;

/**
 * What is wrong with an answer that was refused, withheld, cut off before its first word, or empty;
 * `undefined` for every other one.
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
  // What Anthropic streamed before it refused is to be dropped: it is no refusal in words.
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
