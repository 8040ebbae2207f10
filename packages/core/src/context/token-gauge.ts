import type { Event, ModelEndEvent } from '../ledger/event.ts';

export const charactersPerToken = 4;
/**
 * What a report may make of the estimate. Of short prompts most is what the provider adds itself,
 * so what they say is not taken at its word.
 */
const leastRatio = 0.5;
const mostRatio = 4;
/** Share of the estimate below which a report is not believed. */
const leastBelievable = 0.25;
/** Tokens from which on a prompt says how the provider counts. */
const tellingPrompt = 500;

/**
 * Says how many tokens a text is: four characters to a token, corrected by what the provider
 * reported of the last call of the agent. Folded from the agent's events, each looked at once.
 */
export class TokenGauge {
  readonly #events: readonly Event[];
  #next = 0;
  #ratio = 1;
  /** Whether the ratio is known better than that it is about 1. */
  #isKnown = false;
  #estimate: number | undefined;
  /** Tokens of the shortest prompt that each model refused, as estimated. */
  readonly #refused = new Map<string, number>();
  #model = '';
  #seen = 0;
  #started = 0;

  constructor(events: readonly Event[]) {
    this.#events = events;
  }

  /** Tokens for so many characters. */
  tokens(characters: number): number {
    this.#catchUp();
    return Math.ceil((characters / charactersPerToken) * this.#ratio);
  }

  /** Characters for so many tokens. */
  characters(tokens: number): number {
    this.#catchUp();
    return Math.floor((tokens / this.#ratio) * charactersPerToken);
  }

  /** Whether a provider has reported how it counts, or somebody has counted. */
  get isKnown(): boolean {
    this.#catchUp();
    return this.#isKnown;
  }

  /**
   * Takes over what was counted from the texts themselves, by the tokenizer of the model or by
   * kinds of characters.
   */
  suppose(tokens: number, characters: number): void {
    this.#catchUp();
    if (characters <= 0) return;
    this.#ratio = Math.min(
      mostRatio,
      Math.max(leastRatio, (tokens * charactersPerToken) / characters),
    );
  }

  /** Tokens that the provider counts for one of the estimate. */
  get ratio(): number {
    this.#catchUp();
    return this.#ratio;
  }

  /**
   * Tokens of the shortest prompt that this model refused as too long, as its provider counts them.
   */
  refusedBy(model: string): number {
    this.#catchUp();
    return (this.#refused.get(model) ?? Number.POSITIVE_INFINITY) * this.#ratio;
  }

  /**
   * The last event that stood before a call which the model has answered: what is behind it, the
   * model has not seen.
   */
  get seen(): number {
    this.#catchUp();
    return this.#seen;
  }

  #catchUp(): void {
    for (; this.#next < this.#events.length; this.#next++) {
      const event = this.#events[this.#next];
      if (event?.type === 'invocation_start') this.#seen = event.seq - 1;
      else if (event?.type === 'model_start') {
        this.#estimate = event.estimatedInputTokens;
        this.#started = event.seq;
        this.#model = event.model;
      } else if (event?.type === 'model_end') this.#take(event);
    }
  }

  #take(end: ModelEndEvent): void {
    const estimate = this.#estimate ?? 0;
    if (end.status === 'error' && end.error?.code === 'model_context_overflow') {
      this.#refused.set(
        this.#model,
        Math.min(this.#refused.get(this.#model) ?? estimate, estimate),
      );
    }
    if (end.status !== 'completed') return;
    this.#seen = this.#started;
    // So few tokens for so long a prompt are no count of it: a server that leaves out what it had
    // in its cache, or a model of a test.
    if (end.usage.inputTokens < estimate * leastBelievable) return;
    if (
      end.estimated === true ||
      end.substitutedBy !== undefined ||
      estimate < tellingPrompt ||
      end.usage.inputTokens <= 0
    )
      return;
    this.#ratio = Math.min(mostRatio, Math.max(leastRatio, end.usage.inputTokens / estimate));
    this.#isKnown = true;
  }
}
