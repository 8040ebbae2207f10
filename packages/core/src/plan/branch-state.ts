import { defined } from '../base/defined.ts';
import type { EventDraft } from '../ledger/event.ts';
import { visibleValues } from '../ledger/folds/state-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';

/**
 * Returns the events with which the writes of a branch become those of the runnable around it;
 * none when it wrote nothing.
 * @param path path of the runnable around it
 * @param branch path of the last invocation in the slot of the branch
 */
export function branchState(ledger: Ledger, path: string, branch: string): readonly EventDraft[] {
  const changed = Object.entries(ledger.state.overlays.get(branch) ?? {});
  if (changed.length === 0) return [];
  const base = visibleValues(ledger.state, 'session', path);
  return [
    {
      type: 'state_change',
      by: 'runtime',
      invocationId: path,
      scope: 'session',
      source: 'mutation',
      changes: changed.map(([key, newValue]) => ({
        key,
        ...defined({ oldValue: base[key], newValue }),
      })),
    },
  ];
}
