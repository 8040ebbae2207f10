import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, refusalOf } from './client.ts';

export interface Connection {
  readonly state: 'connecting' | 'live' | 'lost';
}

/** Milliseconds in which changes are collected before lists are read again. */
const collectMs = 300;
/** Milliseconds before a connection that failed is made again. */
const pauseMs = 3_000;

/**
 * Follows the app: whichever session changes, lists that have it are read again. After a lost
 * connection everything is, so that nothing needs a global order.
 */
export function useChanges(): Connection {
  const queries = useQueryClient();
  const [connection, setConnection] = useState<Connection>({ state: 'connecting' });
  useEffect(() => {
    const closing = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const key of ['sessions', 'approvals', 'tasks', 'now'])
          void queries.invalidateQueries({ queryKey: [key] });
      }, collectMs);
    };
    const follow = async (): Promise<void> => {
      while (!closing.signal.aborted) {
        try {
          for await (const _ of api.sessions.changes({ signal: closing.signal })) {
            setConnection({ state: 'live' });
            soon();
          }
        } catch (error) {
          if (closing.signal.aborted) return;
          setConnection({ state: 'lost' });
          // The key was revoked, or the sign-in is over: the page asks who reads it.
          if (refusalOf(error)?.status === 401)
            await queries.invalidateQueries({ queryKey: ['me'] });
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        soon();
      }
    };
    void follow();
    return () => {
      closing.abort();
      clearTimeout(timer);
    };
  }, [queries]);
  return connection;
}
