import type { JsonValue } from '../../base/json.ts';
import { type Event, type EventOf, foldEvent } from '../event.ts';
import {
  emptyLedgerState,
  type LedgerState,
  type StateValues,
  stateFold,
  withChanges,
} from './state-fold.ts';

/**
 * The result of `stateFold`. A long series of changes without a read between them costs one copy of
 * the values, instead of one for each change.
 */
export class StateAccumulator {
  #state: LedgerState;
  /** Changes that `#state` does not have yet: key to value, by scope. */
  readonly #changes = new Map<string, Map<string, JsonValue | undefined>>();

  constructor(state: LedgerState = emptyLedgerState) {
    this.#state = state;
  }

  add(event: Event): void {
    if (event.type !== 'state_change') this.#state = foldEvent(stateFold, this.#state, event);
    // With open branches, the path of a change decides if it belongs to the values.
    else if (this.#state.overlays.size > 0) this.#state = foldEvent(stateFold, this.current, event);
    else this.#collect(event);
  }

  #collect({ scope, changes }: EventOf<'state_change'>): void {
    let collected = this.#changes.get(scope);
    if (collected === undefined) {
      collected = new Map();
      this.#changes.set(scope, collected);
    }
    for (const { key, newValue } of changes) collected.set(key, newValue);
  }

  /** The state after all added events. It never changes. */
  get current(): LedgerState {
    if (this.#changes.size === 0) return this.#state;
    const { scopes } = this.#state;
    const changed: Record<string, StateValues> = { ...scopes };
    for (const [scope, changes] of this.#changes)
      changed[scope] = withChanges(scopes[scope] ?? {}, Object.fromEntries(changes));
    this.#changes.clear();
    this.#state = { ...this.#state, scopes: Object.freeze(changed) };
    return this.#state;
  }
}
