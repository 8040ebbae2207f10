import type { Runtime } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import type { CountWaiting } from './metrics.ts';

/** Milliseconds for which a count is good: several may scrape. */
const goodForMs = 5_000;
const mostCounted = 1_000;

/** Counts pending requests by their kinds, and not more often than every few seconds. */
export function waitingCounter(app: Pick<Runtime, 'requests'>, clock: Clock): CountWaiting {
  let counted:
    | { readonly at: number; readonly counts: Promise<ReadonlyMap<string, number>> }
    | undefined;
  return () => {
    const at = clock.monotonic();
    if (counted === undefined || at - counted.at >= goodForMs) counted = { at, counts: count(app) };
    return counted.counts;
  };
}

async function count(app: Pick<Runtime, 'requests'>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { kind } of await app.requests.list({ status: 'pending', limit: mostCounted }))
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
