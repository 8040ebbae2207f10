import { useEffect, useState } from 'react';
import type { Connection } from '../api/changes.ts';
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
  return null;
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
