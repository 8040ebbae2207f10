import type { Readiness } from '@adjutant/server/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Connection } from '../api/changes.ts';
import { api } from '../api/client.ts';
import { onUnavailable } from '../api/reach.ts';
import { Button } from '../components/button.tsx';
import { clock, fullTime } from '../components/format.ts';
import { useNow } from '../components/use-now.ts';
import styles from './connection-note.module.css';

/** Milliseconds of a lost connection before it is told: a reload of the server passes unseen. */
const toldAfterMs = 400;

/** Line above the page while the server is away, or has asked the page to wait. */
export function ConnectionNote({ reach, retry }: Connection) {
  const isTold = useLasting(reach.state === 'away', toldAfterMs);
  if (reach.state === 'away' && isTold)
    return (
      <div className={styles['note']} role="alert">
        <span>
          Not connected since <time title={fullTime(reach.since)}>{clock(reach.since)}</time>. What
          you see is of then. The page tries again by itself; check that `adjutant serve` runs.
        </span>
        <Button icon="retry" onPress={retry}>
          Try now
        </Button>
      </div>
    );
  if (reach.state === 'slowed') return <Slowed until={reach.until} />;
  return reach.state === 'away' ? null : <DegradedNote />;
}

/** Milliseconds between two questions how the server is: while all is well, and otherwise. */
const wellMs = 30_000;
const degradedMs = 3_000;

/** Line for a server that answers, and does less than all. */
export function DegradedNote() {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['health', 'readiness'],
    queryFn: ({ signal }) => api.readiness({ signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'ready' ? wellMs : degradedMs),
  });
  useEffect(
    () =>
      onUnavailable(() => {
        const isKnown = queries.getQueryData<typeof data>(['health', 'readiness'])?.status;
        if (isKnown === 'ready') void queries.invalidateQueries({ queryKey: ['health'] });
      }),
    [queries],
  );
  const words = data === undefined ? undefined : lackOf(data);
  if (words === undefined) return null;
  return (
    <p className={styles['note']} role="alert">
      {words}
    </p>
  );
}

function lackOf({ store, degraded, closing }: Readiness): string | undefined {
  if (closing) return 'The server is closing: it takes no more work.';
  if (store === 'unavailable')
    return (
      'The store does not answer: what you see was read before, and nothing can be done. The ' +
      'server tries again by itself; check the store.'
    );
  if (store === 'read_only' || degraded.includes('store_full'))
    return (
      'The disk of the store is full: everything can be read, and nothing can be changed. Make ' +
      'room; the server finds it by itself.'
    );
  if (degraded.includes('overloaded'))
    return (
      'The server has more to do than it can hold, and refuses some requests. The page tries ' +
      'again by itself.'
    );
  return undefined;
}

/** Quiet word: the page has asked too often, and goes on by itself. */
function Slowed({ until }: { readonly until: number }) {
  const seconds = Math.max(1, Math.ceil((until - useNow()) / 1_000));
  return (
    <p className={styles['quiet']} role="status">
      The server takes no more requests of you for {seconds} s. The page goes on by itself.
    </p>
  );
}

/** True once something has held for a while. */
function useLasting(holds: boolean, afterMs: number): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!holds) {
      setLasts(false);
      return undefined;
    }
    const timer = setTimeout(() => setLasts(true), afterMs);
    return () => clearTimeout(timer);
  }, [holds, afterMs]);
  return lasts;
}
