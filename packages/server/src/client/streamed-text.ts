import type { StreamEvent } from 'adjutant';

/** Text of an agent's last answer, which may be under way. */
export interface StreamedText {
  readonly invocationId: string;
  readonly agent: string;
  readonly text: string;
  readonly thoughts: string;
  /** True when the text is the recorded one. Until then it may grow, and begin anew. */
  readonly isComplete: boolean;
  /** The round whose text is as the ledger has it; an answer may have several parts. */
  readonly textRound?: number | undefined;
  readonly thoughtsRound?: number | undefined;
}

/** The last answer of each invocation by its path, in the order in which they began. */
export type StreamedTexts = ReadonlyMap<string, StreamedText>;

export const noText: StreamedTexts = new Map();

/**
 * Folds an event of a stream into the text so far: `texts = streamedText(texts, event)`. Deltas
 * append, `stream_reset` clears what was streamed of an answer, and what is in the ledger takes the
 * place of what was streamed.
 */
export function streamedText(texts: StreamedTexts, event: StreamEvent): StreamedTexts {
  const { invocationId } = event;
  if (invocationId === undefined) return texts;
  const before = texts.get(invocationId);
  switch (event.type) {
    case 'assistant_delta': {
      const open = openAnswer(before, event);
      return put(texts, { ...open, text: open.text + event.delta });
    }
    case 'thought_delta': {
      const open = openAnswer(before, event);
      return put(texts, { ...open, thoughts: open.thoughts + event.delta });
    }
    case 'stream_reset':
      return before === undefined || before.isComplete
        ? texts
        : put(texts, { ...before, text: '', thoughts: '' });
    case 'thought': {
      const isNext = before !== undefined && before.thoughtsRound === event.round;
      const open = isNext ? before : openAnswer(before, { invocationId, agent: event.agent });
      const thoughts = joined(open.thoughts, event.text, isNext);
      return put(texts, { ...open, thoughts, thoughtsRound: event.round });
    }
    case 'assistant': {
      const isNext =
        before !== undefined && event.round !== undefined && before.textRound === event.round;
      const open = isNext ? before : openAnswer(before, { invocationId, agent: event.agent });
      const text = joined(open.text, event.text, isNext);
      return put(texts, { ...open, text, textRound: event.round, isComplete: true });
    }
    case 'model_start':
      // The next answer of the same round follows one that was cut off, and does not belong to it.
      return before?.isComplete === true && before.textRound === event.round
        ? put(texts, { ...before, textRound: undefined, thoughtsRound: undefined })
        : texts;
    case 'model_end':
      if (before === undefined) return texts;
      // A round that only called tools adds no text. A failed attempt leaves nothing, even when
      // none of it was streamed.
      if (event.status === 'completed')
        return before.isComplete ? texts : put(texts, { ...before, isComplete: true });
      return before.isComplete && before.textRound === event.round
        ? texts
        : without(texts, invocationId);
    default:
      return texts;
  }
}

/** The answer that is under way, or a new one. */
function openAnswer(
  before: StreamedText | undefined,
  { invocationId, agent }: { readonly invocationId: string; readonly agent: string },
): StreamedText {
  return before === undefined || before.isComplete
    ? { invocationId, agent, text: '', thoughts: '', isComplete: false }
    : before;
}

/**
 * Returns the recorded text: one part of an answer, or the next one. A text that is too long for
 * the stream is a reference; the streamed text stays.
 */
function joined(streamed: string, recorded: unknown, isNext: boolean): string {
  if (typeof recorded !== 'string') return streamed;
  return isNext ? streamed + recorded : recorded;
}

function put(texts: StreamedTexts, text: StreamedText): StreamedTexts {
  return new Map(texts).set(text.invocationId, text);
}

function without(texts: StreamedTexts, invocationId: string): StreamedTexts {
  const rest = new Map(texts);
  rest.delete(invocationId);
  return rest;
}
