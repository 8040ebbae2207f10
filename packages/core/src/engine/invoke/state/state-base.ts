import { foldEvent } from '../../../ledger/event.ts';
import { emptyLedgerState, type LedgerState, stateFold } from '../../../ledger/folds/state-fold.ts';
import type { Ledger } from '../../../ledger/ledger.ts';

/** State that a body starts from. */
export interface StateBase {
  readonly state: LedgerState;
  /** `seq` of the last event that the state includes. */
  readonly seq: number;
}

/** Returns the state of a ledger after its first `seq` events. */
export function stateAfter(ledger: Ledger, seq: number): LedgerState {
  let state = emptyLedgerState;
  for (let i = 0; i < seq; i++) {
    const event = ledger.events[i] as Ledger['events'][number];
    state = foldEvent(
      stateFold,
      state,
      event.type === 'state_change' ? ledger.whole(event) : event,
    );
  }
  return state;
}
