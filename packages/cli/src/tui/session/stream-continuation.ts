import { isDurable, type StreamEvent, type TransientEvent } from 'adjutant';

type TextDelta = Extract<TransientEvent, { type: 'assistant_delta' | 'thought_delta' }>;
type Texts = Readonly<Record<TextDelta['type'], string>>;

/** An answer that is being streamed. */
interface Streamed {
  /** The part of it that was passed on. */
  readonly shown: Texts;
  /** The begin that followed, and what came after it. */
  readonly again?: { readonly reset: StreamEvent; readonly texts: Texts };
}

const noTexts: Texts = { assistant_delta: '', thought_delta: '' };

/**
 * Keeps a text from being told twice. After a lost connection a stream begins the open answer
 * anew: `stream_reset`, then the text so far. As long as that is what was told before, nothing of
 * it is passed on. Another text is a new begin of the model, and is passed on with its reset.
 */
export class StreamContinuation {
  readonly #answers = new Map<string, Streamed>();

  /** Takes the next event of a stream. Returns the events to pass on. */
  take(event: StreamEvent): readonly StreamEvent[] {
    if (isDurable(event)) {
      if (event.type === 'model_end' || event.type === 'invocation_end')
        this.#answers.delete(event.invocationId);
      return [event];
    }
    switch (event.type) {
      case 'stream_reset': {
        const before = this.#answers.get(event.invocationId);
        if (before === undefined) return [event];
        const again = { reset: event, texts: noTexts };
        this.#answers.set(event.invocationId, { shown: before.shown, again });
        return [];
      }
      case 'assistant_delta':
      case 'thought_delta':
        return this.#delta(event);
      default:
        return [event];
    }
  }

  #delta(event: TextDelta): readonly StreamEvent[] {
    const { type, invocationId, delta } = event;
    const { shown, again } = this.#answers.get(invocationId) ?? { shown: noTexts };
    if (again === undefined) {
      this.#answers.set(invocationId, { shown: withText(shown, type, shown[type] + delta) });
      return [event];
    }
    const text = again.texts[type] + delta;
    const texts = withText(again.texts, type, text);
    if (shown[type].startsWith(text)) {
      this.#answers.set(invocationId, { shown, again: { ...again, texts } });
      return [];
    }
    if (text.startsWith(shown[type])) {
      const rest = text.slice(shown[type].length);
      this.#answers.set(invocationId, {
        shown: withText(shown, type, text),
        again: { ...again, texts },
      });
      return [{ ...event, delta: rest }];
    }
    this.#answers.set(invocationId, { shown: texts });
    return [again.reset, { ...event, delta: text }];
  }
}

function withText(texts: Texts, type: TextDelta['type'], text: string): Texts {
  return { ...texts, [type]: text };
}
