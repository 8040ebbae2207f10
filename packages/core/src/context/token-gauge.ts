import type { Event } from '../ledger/event.ts';

const charactersPerToken = 4;
/** What a report may make of the estimate. Of short prompts most is what the provider adds itself, so what they say is not taken at its word. */
const leastRatio = 0.5;
const mostRatio = 4;
/** Tokens from which on a prompt says how the provider counts. */
const tellingPrompt = 500;

/**
 * Says how many tokens a text is: four characters to a token, corrected by what the provider reported of the last call of the agent. Folded from
 * the agent's events, each looked at once.
 */
export class TokenGauge {
  readonly #events: readonly Event[];
  #seen = 0;
  #ratio = 1;
  #estimate: number | undefined;

  constructor(events: readonly Event[]) {
    this.#events = events;
  }

  /** Tokens for so many characters. */
  tokens(characters: number): number {
    return Math.ceil((characters / charactersPerToken) * this.ratio);
  }

  /** Tokens that the provider counts for one of the estimate. */
  get ratio(): number {
    for (; this.#seen < this.#events.length; this.#seen++) {
      const event = this.#events[this.#seen];
      if (event?.type === 'model_start') this.#estimate = event.estimatedInputTokens;
      if (event?.type !== 'model_end' || event.status !== 'completed' || event.estimated === true || event.substitutedBy !== undefined) continue;
      if (this.#estimate === undefined || this.#estimate < tellingPrompt || event.usage.inputTokens <= 0) continue;
      this.#ratio = Math.min(mostRatio, Math.max(leastRatio, event.usage.inputTokens / this.#estimate));
    }
    return this.#ratio;
  }
}
