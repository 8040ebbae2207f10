import { type Event, type Runtime, runtime, type Store } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';

export const app = 'travel';

export function open(store: Store): Runtime {
  return runtime({ app, store, recover: 'manual' });
}

/** Writes a ledger as another process would have left it. */
export async function write(
  store: Store,
  id: string,
  events: readonly Event[],
): Promise<LedgerStore> {
  const ledgers = store.for({ tenant: 'default', app });
  const claim = await ledgers.claim(id, 'writer', { ttlMs: 1_000 });
  if (events.length > 0) await ledgers.append(id, { seq: 0, epoch: claim.epoch }, { events });
  await ledgers.release(claim);
  return ledgers;
}

/** A ledger of so many changes of state. */
export function changes(count: number, valueAt: (i: number) => string = String): Event[] {
  return Array.from({ length: count }, (_, i) => {
    const change = { key: `key${i % 10}`, newValue: valueAt(i) };
    return {
      v: 2,
      seq: i + 1,
      id: `e${i}`,
      at: 1_000 + i,
      type: 'state_change',
      by: 'operator',
      scope: 'session',
      source: 'mutation',
      changes: [change],
    };
  });
}
