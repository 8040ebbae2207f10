import { defaultLane } from '../../../ledger/folds/lanes.ts';
import type { Session } from '../../../session/session.ts';
import type { AppServices } from '../../frame/app-services.ts';
import { laneOfItem } from '../inbox/item-lane.ts';
import { openLanes, openRoot } from '../root-run.ts';
import { canGoOn } from './lane-work.ts';

/**
 * Chooses the lane of a session that a worker carries on: one that has something to do and whose
 * runnable is known, else one that has something to do, else one that is open.
 */
export async function chooseLane(
  session: Session,
  { registry, telling }: Pick<AppServices, 'registry' | 'telling'>,
): Promise<string> {
  const { ledger } = session;
  const open = openLanes(ledger);
  const only = open[0] ?? defaultLane;
  // A session that nothing was written to has no inbox.
  const isStored = ledger.durableSeq > 0 || ledger.lease.claim !== undefined;
  const entries = isStored ? await ledger.ports.store.inbox(ledger.session) : [];
  const addressed = entries.map((entry) => laneOfItem(ledger, entry) ?? only);
  const busy = [...open.filter((lane) => canGoOn(ledger, lane, telling)), ...addressed];
  const isKnown = (lane: string): boolean => {
    const root = openRoot(session, lane);
    return root === undefined || registry.has(root.name);
  };
  return busy.find((lane) => open.includes(lane) && isKnown(lane)) ?? busy.find(isKnown) ?? only;
}
