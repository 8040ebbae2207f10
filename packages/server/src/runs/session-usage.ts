import type { EventOf, StoredEvent } from 'adjutant';
import { type ModelUse, noUse, useOfBoth, useWith } from 'adjutant/views';

/** Which calls of models are counted. */
export interface UsageFilter {
  readonly agent?: string | undefined;
  /** Epoch milliseconds: calls that ended then or later. */
  readonly from?: number | undefined;
  /** Epoch milliseconds: calls that ended before. */
  readonly to?: number | undefined;
}

/**
 * Usage of model calls in a session, folded from its events. Events that a fork shares with another
 * session are not counted again.
 */
export class SessionUsage {
  readonly #session: string;
  readonly #filter: UsageFilter;
  readonly #calls = new Map<string, EventOf<'model_start'>>();
  #byModel = new Map<string, ModelUse>();

  constructor(session: string, filter: UsageFilter) {
    this.#session = session;
    this.#filter = filter;
  }

  add(event: StoredEvent): void {
    if (
      event.type === 'decision' &&
      event.component === 'fork' &&
      event.data?.['session'] === this.#session
    )
      this.#byModel = new Map();
    if (event.type === 'model_start') this.#calls.set(callOf(event), event);
    if (event.type !== 'model_end') return;
    const call = this.#calls.get(callOf(event));
    this.#calls.delete(callOf(event));
    if (this.#isCounted(event, call?.agent)) this.#count(call?.model ?? 'unknown', event);
  }

  #isCounted({ at, substitutedBy }: EventOf<'model_end'>, by: string | undefined): boolean {
    const { agent, from = 0, to = Number.POSITIVE_INFINITY } = this.#filter;
    return (
      substitutedBy === undefined && at >= from && at < to && (agent === undefined || agent === by)
    );
  }

  #count(model: string, event: EventOf<'model_end'>): void {
    this.#byModel.set(model, useWith(this.#byModel.get(model) ?? noUse, event));
  }

  /** By the models that were called, most recently met last. */
  get byModel(): readonly { readonly model: string; readonly use: ModelUse }[] {
    return [...this.#byModel].map(([model, use]) => ({ model, use }));
  }

  get total(): ModelUse {
    return [...this.#byModel.values()].reduce(useOfBoth, noUse);
  }
}

function callOf({
  invocationId,
  round,
  attempt,
}: EventOf<'model_start'> | EventOf<'model_end'>): string {
  return `${invocationId}#${round}.${attempt}`;
}
