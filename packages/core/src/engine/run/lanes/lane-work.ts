import type { Ledger } from '../../../ledger/ledger.ts';
import { inFlightOn } from '../../frame/in-flight.ts';
import { openDetachedIn } from '../../frame/open-detached.ts';
import type { TellsRequests } from '../../frame/tells-requests.ts';
import { openLanes, openRoot } from '../root-run.ts';
import { isStillWaiting, lastSeqIn } from '../still-waiting.ts';
import { nextWake } from '../waiting/request-teller.ts';

/** Notes that the run of a lane has ended here, or waits. */
export function noteRest(ledger: Ledger, lane: string): void {
  const seq = lastSeqIn(ledger, lane);
  inFlightOn(ledger).rested.set(lane, { seq, at: ledger.ports.clock.now() });
}

/**
 * Checks that the run of a lane has something to do: it was interrupted, something that it waits
 * for has come, or an instant has.
 */
export function canGoOn(ledger: Ledger, lane: string, telling: TellsRequests | undefined): boolean {
  const root = openRoot({ ledger }, lane);
  const hasDetached = openDetachedIn(ledger, lane).length > 0;
  if (root === undefined && !hasDetached) return false;
  const rest = inFlightOn(ledger).rested.get(lane);
  const wake = nextWake(ledger, telling, lane);
  if (wake !== null && wake <= ledger.ports.clock.now() && wake > (rest?.at ?? -1)) return true;
  if (rest?.seq === lastSeqIn(ledger, lane)) return false;
  return hasDetached || (root !== undefined && !isStillWaiting(ledger, root.path));
}

/**
 * Time in epoch milliseconds at which a session needs a process again that gives it up now; `null`
 * when there is none.
 * @param lane lane that ends or waits just now
 */
export function wakeAfter(
  ledger: Ledger,
  telling: TellsRequests | undefined,
  lane: string,
): number | null {
  const others = openLanes(ledger).filter((one) => one !== lane);
  return others.some((one) => canGoOn(ledger, one, telling))
    ? ledger.ports.clock.now()
    : nextWake(ledger, telling);
}
