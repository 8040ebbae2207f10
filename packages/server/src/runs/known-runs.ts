import type { Replays } from '../stream/replay/replays.ts';
import type { SessionAddress } from '../stream/replay/session-folds.ts';
import { SessionRuns } from './session-runs.ts';

/**
 * The runs of a session as they are now. Of a ledger that was read before, only what has come since
 * is read.
 */
export function runsOf(replays: Replays, address: SessionAddress): Promise<SessionRuns> {
  return replays.folds.upToNow(address, 'runs', () => new SessionRuns());
}
