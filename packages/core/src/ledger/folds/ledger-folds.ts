import { type Event, foldEvent } from '../event.ts';
import { effectFold, noOpenEffects, type OpenEffects } from './effect-fold.ts';
import {
  emptyInvocationTree,
  type InvocationTree,
  invocationFold,
  replaceInTree,
} from './invocation-fold.ts';
import { type PendingRequests, requestFold } from './request-fold.ts';
import { StateAccumulator } from './state-accumulator.ts';
import type { LedgerState } from './state-fold.ts';

/** The events of one ledger and the states folded from them. */
export class LedgerFolds {
  readonly events: Event[] = [];
  invocations: InvocationTree = emptyInvocationTree();
  effects: OpenEffects = noOpenEffects();
  requests: PendingRequests = new Map();
  /** Hashes of the prompt contents that the events hold. */
  readonly contents = new Set<string>();
  /** Time of the latest event, in epoch milliseconds. */
  lastAt = 0;
  #state = new StateAccumulator();

  /** The state of all scopes after the last event. */
  get state(): LedgerState {
    return this.#state.current;
  }

  /**
   * Folds an event. The folds get `whole`, the event with its large values, so that readers of
   * state, inputs and outputs find no references.
   */
  add(event: Event, whole: Event): void {
    this.events.push(event);
    if (event.at > this.lastAt) this.lastAt = event.at;
    foldEvent(invocationFold, this.invocations, whole);
    this.#state.add(whole);
    foldEvent(effectFold, this.effects, event);
    foldEvent(requestFold, this.requests, whole);
    if (event.type === 'model_start' && event.recipe.contents !== undefined)
      for (const hash of Object.keys(event.recipe.contents)) this.contents.add(hash);
  }

  /** Replaces a draft. The state follows with `refoldState`. */
  replace({ seq }: Event, event: Event, whole: Event): void {
    this.events[seq - 1] = event;
    replaceInTree(this.invocations, seq, whole);
  }

  /** Folds the state from the start, after drafts were replaced. */
  refoldState(whole: (event: Event) => Event): void {
    this.#state = new StateAccumulator();
    for (const event of this.events) this.#state.add(whole(event));
  }

  /** Empties the folds and returns the events that were in them. */
  clear(): Event[] {
    const events = this.events.splice(0);
    this.invocations = emptyInvocationTree();
    this.#state = new StateAccumulator();
    this.effects = noOpenEffects();
    this.requests = new Map();
    this.contents.clear();
    return events;
  }
}
