import type { InvocationTree } from '../ledger/folds/invocation-fold.ts';
import type { RoundEvent } from './message-encoder.ts';

interface Rounds {
  /** Number of events of the invocation that were read. */
  seen: number;
  readonly models: Map<number, string>;
}

/**
 * Index of the models that answered, by round: the last one called in it. Each event is read once.
 */
export class AnsweringModels {
  readonly #tree: InvocationTree;
  readonly #byPath = new Map<string, Rounds>();

  constructor(tree: InvocationTree) {
    this.#tree = tree;
  }

  of({ invocationId, round }: RoundEvent): string | undefined {
    const record = this.#tree.byPath.get(invocationId ?? '');
    if (record === undefined || round === undefined) return undefined;
    let rounds = this.#byPath.get(record.path);
    if (rounds === undefined) {
      rounds = { seen: 0, models: new Map() };
      this.#byPath.set(record.path, rounds);
    }
    for (; rounds.seen < record.events.length; rounds.seen++) {
      const event = record.events[rounds.seen];
      if (event?.type === 'model_start') rounds.models.set(event.round, event.model);
    }
    return rounds.models.get(round);
  }
}
