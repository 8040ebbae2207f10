import { type Event, foldEvent } from '../ledger/event.ts';
import { confidenceIn } from '../ledger/folds/confidence.ts';
import {
  emptyInvocationTree,
  invocationFold,
  lastRecord,
} from '../ledger/folds/invocation-fold.ts';

/**
 * Returns the confidence in the output of an invocation, such as a run, from 0 to 1; `undefined`
 * when nothing lowers it, or the invocation does not exist.
 */
export function confidenceOf(events: readonly Event[], path: string): number | undefined {
  const tree = emptyInvocationTree();
  for (const event of events) foldEvent(invocationFold, tree, event);
  const record = lastRecord(tree, path);
  return record === undefined ? undefined : confidenceIn(record, tree, (value) => value);
}
