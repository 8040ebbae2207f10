import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { api, refusalOf } from './client.ts';
import { onReach, presentReach, type Reach } from './reach.ts';

export interface Connection {
  readonly state: 'connecting' | 'live' | 'lost';
  readonly reach: Reach;
  /** Tries at once to reach a server that is away. */
  readonly retry: () => void;
}

/**
 * Milliseconds in which changes are collected before lists are read again, and between two such
 * readings: a busy app does not use up the requests of its reader.
 */
const collectMs = 300;
const gapMs = 2_000;
/** Milliseconds before a connection that failed is made again. */
const pauseMs = 3_000;
/** First part of the keys of the answers that a change of a session makes old. */
const changing = ['sessions', 'approvals', 'tasks', 'now'] as const;

/**
 * Follows the app: whichever session changes, lists that have it are read again. After a lost
 * connection everything is, so that nothing needs a global order.
 */
export function useChanges(): Connection {
  const queries = useQueryClient();
  const reach = useSyncExternalStore(onReach, presentReach);
  const [hasBegun, setBegun] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  useEffect(() => {
    const closing = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let readAt = Number.NEGATIVE_INFINITY;
    let isBack = attempt > 0;
    const soon = (): void => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          readAt = performance.now();
          for (const key of changing) void queries.invalidateQueries({ queryKey: [key] });
        },
        Math.max(collectMs, readAt + gapMs - performance.now()),
      );
    };
    const follow = async (): Promise<void> => {
      while (!closing.signal.aborted) {
        try {
          for await (const { type } of api.sessions.changes({ signal: closing.signal })) {
            setBegun(true);
            if (type === 'begun' && isBack) void queries.invalidateQueries();
            else soon();
            isBack = true;
          }
        } catch (error) {
          if (closing.signal.aborted) return;
          setBegun(false);
          // The key was revoked, or the sign-in is over: the page asks who reads it.
          if (refusalOf(error)?.status === 401)
            await queries.invalidateQueries({ queryKey: ['me'] });
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    };
    void follow();
    return () => {
      closing.abort();
      clearTimeout(timer);
    };
  }, [queries, attempt]);
  const state = reach.state === 'away' ? 'lost' : hasBegun ? 'live' : 'connecting';
  return { state, reach, retry };
}
