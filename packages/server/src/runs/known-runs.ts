import type { StoredEvent } from 'adjutant';
import { isBlobReference } from 'adjutant/store';
import { ledgersOf, withLargeValues } from '../http/large-values.ts';
import type { Replays } from '../stream/replay/replays.ts';
import type { GrowingFold, SessionAddress } from '../stream/replay/session-folds.ts';
import { SessionRuns } from './session-runs.ts';

/**
 * The runs of a session as they are now. Of a ledger that was read before, only what has come since
 * is read.
 */
export async function runsOf(replays: Replays, address: SessionAddress): Promise<SessionRuns> {
  return (await replays.folds.upToNow(address, 'runs', () => new KnownRuns(address))).runs;
}

/** The runs of a stored session: large outputs are read, since they may say their confidence. */
class KnownRuns implements GrowingFold {
  readonly runs = new SessionRuns();
  readonly #address: SessionAddress;

  constructor(address: SessionAddress) {
    this.#address = address;
  }

  get size(): number {
    return this.runs.size;
  }

  add(event: StoredEvent): void | Promise<void> {
    if (event.type !== 'invocation_end' || !isBlobReference(event.output)) this.runs.add(event);
    else return this.#addLarge(event);
  }

  async #addLarge(event: Parameters<SessionRuns['add']>[0]): Promise<void> {
    const { app, session } = this.#address;
    this.runs.add(await withLargeValues(event, { ledgers: ledgersOf(app), session }));
  }
}
