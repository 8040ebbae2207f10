import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { defaultLane, isOfOtherLane } from '../../ledger/folds/lanes.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { predecessorOf, rootOf } from '../../ledger/path.ts';

/**
 * Returns the message that an invocation works on: that of the nearest caller that gave one, else
 * the message of the user that the run began with. It is the same whenever it is asked for.
 */
export function messageFor(ledger: Ledger, of: InvocationRecord): string | undefined {
  const { byPath } = ledger.invocations;
  let record: InvocationRecord | undefined = of;
  while (record !== undefined) {
    if (record.input?.message !== undefined) return String(ledger.resolve(record.input.message));
    record = byPath.get(predecessorOf(record.path) ?? record.parent ?? '');
  }
  const root = byPath.get(rootOf(of.path));
  return root === undefined ? undefined : messageBefore(ledger, root);
}

/** The last message of the user before a run began that no earlier run has had. */
function messageBefore(ledger: Ledger, { path, start }: InvocationRecord): string | undefined {
  const { byPath } = ledger.invocations;
  const lane = start.lane ?? defaultLane;
  for (let i = start.seq - 2; i >= 0; i--) {
    const event = ledger.events[i];
    if (event === undefined || isOfOtherLane(ledger.invocations, event, lane)) continue;
    if (event.type === 'invocation_start' && event.mode === 'root') return undefined;
    if (event.type !== 'user') continue;
    const run = rootOf(event.invocationId ?? '');
    if (run === '' || run === path || !byPath.has(run)) return String(ledger.resolve(event.text));
  }
  return undefined;
}
