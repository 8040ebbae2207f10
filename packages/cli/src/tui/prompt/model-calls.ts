import type { Event, EventOf, StoredEvent } from 'adjutant';
import { isKnown } from '../feed/known-events.ts';
import type { TraceIndex } from '../trace/trace-index.ts';
import { nextPlace } from '../trace/trace-rows.ts';

type ModelStart = EventOf<'model_start'>;

function isStart(event: StoredEvent): event is ModelStart {
  return isKnown(event) && event.type === 'model_start';
}

/** Finds the model calls of a session. */
export class ModelCalls {
  readonly #index: TraceIndex;

  constructor(index: TraceIndex) {
    this.#index = index;
  }

  /** The call that begins at a place, or the last one before, else the first one. */
  near(place: number): ModelStart | undefined {
    for (let at = Math.min(place, this.#index.length - 1); at >= 0; at--) {
      const event = this.#index.event(at);
      if (isStart(event)) return event;
    }
    return this.#next(-1, 1);
  }

  /** The call of a number, from 1, in the order of the ledger. */
  at(number: number): ModelStart | undefined {
    let count = 0;
    for (let place = 0; place < this.#index.length; place++) {
      const event = this.#index.event(place);
      if (isStart(event) && ++count === number) return event;
    }
    return undefined;
  }

  get count(): number {
    let count = 0;
    for (let place = 0; place < this.#index.length; place++)
      if (isStart(this.#index.event(place))) count++;
    return count;
  }

  /** The next call, or the one before, of any agent; past the ends it goes round. */
  beside({ seq }: ModelStart, by: 1 | -1): ModelStart | undefined {
    return this.#next(this.#index.placeOf(seq), by);
  }

  #next(from: number, by: 1 | -1): ModelStart | undefined {
    const found = nextPlace(this.#index.length, from, by, (place) =>
      isStart(this.#index.event(place)),
    );
    return found === undefined ? undefined : (this.#index.event(found) as ModelStart);
  }

  /** The call of the same agent before a call. */
  before({ seq, agent }: ModelStart): ModelStart | undefined {
    for (let at = this.#index.placeOf(seq) - 1; at >= 0; at--) {
      const event = this.#index.event(at);
      if (isStart(event) && event.agent === agent) return event;
    }
    return undefined;
  }

  /** Tokens of the prompt of a call: those that were counted, else the estimate. */
  tokens(start: ModelStart): number {
    const end = this.#index.endOf(this.#index.placeOf(start.seq));
    const counted = end?.type === 'model_end' && end.estimated !== true ? end.usage.inputTokens : 0;
    return counted > 0 ? counted : start.estimatedInputTokens;
  }

  /** Characters of the recorded result of a call, by the id that its provider gave it. */
  resultLength(providerCallId: string, before: number): number | undefined {
    for (let at = this.#index.placeOf(before); at >= 0; at--) {
      const event = this.#index.event(at);
      if (!isKnown(event) || event.type !== 'tool_call') continue;
      if (event.providerCallId !== providerCallId && event.callId !== providerCallId) continue;
      return lengthOf(this.#index.endOf(at));
    }
    return undefined;
  }
}

function lengthOf(end: Event | undefined): number | undefined {
  if (end?.type !== 'tool_result') return undefined;
  const { content } = end.result;
  if (content !== null && typeof content === 'object' && 'size' in content && '$blob' in content)
    return Number(content['size']);
  return typeof content === 'string' ? content.length : JSON.stringify(content).length;
}
