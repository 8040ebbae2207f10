import { useCallback, useEffect, useState } from 'react';
import type { Columns } from '../../ledger/columns.ts';
import type { Position } from './position.ts';

/** Real gaps between events, but not shorter and not longer than these: milliseconds. */
const shortestGap = 40;
const longestGap = 600;

/** Plays the ledger from the reader's place on; at its end it goes on live. */
export function usePlay(columns: Columns, position: Position) {
  const { seq, isLive, go, goLive } = position;
  const [isPlaying, setPlaying] = useState(false);
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (seq >= columns.count) {
      setPlaying(false);
      goLive();
      return undefined;
    }
    const gap = (columns.at[seq] ?? 0) - (columns.at[seq - 1] ?? 0);
    const timer = setTimeout(() => go(seq + 1), Math.min(longestGap, Math.max(shortestGap, gap)));
    return () => clearTimeout(timer);
  }, [isPlaying, seq, columns, go, goLive]);
  const toggle = useCallback(() => {
    setPlaying((playing) => {
      if (!playing && isLive) go(1);
      return !playing;
    });
  }, [isLive, go]);
  return { isPlaying, toggle };
}
