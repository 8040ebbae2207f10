import type { Event, ModelEndEvent } from '../ledger/event.ts';

export const charactersPerToken = 4;
/**
 * Smallest and largest correction of the estimate by a reported count. Short prompts consist mostly
 * of text added by the provider, so their counts are limited.
 */
const leastRatio = 0.5;
const mostRatio = 4;
/** Share of the estimate below which a reported count is ignored. */
const leastBelievable = 0.25;
/** Minimum estimate in tokens for a prompt whose reported count is used. */
const tellingPrompt = 500;

/**
 * Estimator of the tokens of a text: four characters to a token, corrected by reported counts. The
 * correction comes from the last model call of the agent that reported a usable count. Folded from
 * the agent's events; each event is read once.
 */
export class TokenGauge {
  readonly #events: readonly Event[];
  #next = 0;
  #ratio = 1;
  /** True when the ratio was measured; otherwise it is only assumed to be about 1. */
  #isKnown = false;
  #estimate: number | undefined;
  /** Estimated tokens of the shortest prompt that each model refused. */
  readonly #refused = new Map<string, number>();
  #model = '';
  #seen = 0;
  #started = 0;

  constructor(events: readonly Event[]) {
    this.#events = events;
  }

  /** Returns the tokens for a number of characters. */
  tokens(characters: number): number {
    this.#catchUp();
    return Math.ceil((characters / charactersPerToken) * this.#ratio);
  }

  /** Returns the characters for a number of tokens. */
  characters(tokens: number): number {
    this.#catchUp();
    return Math.floor((tokens / this.#ratio) * charactersPerToken);
  }

  /** True when a provider has reported a usable count of tokens. */
  get isKnown(): boolean {
    this.#catchUp();
    return this.#isKnown;
  }

  /**
   * Sets the ratio from tokens counted in the texts themselves. The count comes from the tokenizer
   * of the model or from kinds of characters.
   */
  suppose(tokens: number, characters: number): void {
    this.#catchUp();
    if (characters <= 0) return;
    this.#ratio = Math.min(
      mostRatio,
      Math.max(leastRatio, (tokens * charactersPerToken) / characters),
    );
  }

  /** Ratio of the tokens counted by the provider to the estimate. */
  get ratio(): number {
    this.#catchUp();
    return this.#ratio;
  }

  /**
   * Returns the tokens of the shortest prompt that this model refused, as its provider counts them.
   */
  refusedBy(model: string): number {
    this.#catchUp();
    return (this.#refused.get(model) ?? Number.POSITIVE_INFINITY) * this.#ratio;
  }

  /**
   * Returns the `seq` of the last event that the model has seen. It is the start of the last model
   * call that was completed. Before such a call it is the event before the start of the invocation.
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
    // A count this far below the estimate is ignored. A server may leave out cached tokens, or the
    // model belongs to a test.
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
