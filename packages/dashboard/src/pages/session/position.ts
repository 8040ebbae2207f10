import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

/** Place of the reader in a ledger: the one number that every panel shows. */
export interface Position {
  /** `seq` of the event that is shown; 0 while there is none. */
  readonly seq: number;
  /** New events are followed. */
  readonly isLive: boolean;
  /** Goes to an event. @param isJump the address gets an entry of its own in the history */
  readonly go: (seq: number, isJump?: boolean) => void;
  readonly goLive: () => void;
}

/** Milliseconds after the last move before the address says where the reader is. */
const addressAfterMs = 150;

/** Reads the place from the address, and keeps it there. @param count events of the ledger */
export function usePosition(count: number): Position & { readonly wanted: number | undefined } {
  const [wanted, setWanted] = useState(wantedSeq);
  const isLive = wanted === undefined;
  const latest = useRef(count);
  latest.current = count;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const onPop = (): void => setWanted(wantedSeq());
    addEventListener('popstate', onPop);
    return () => {
      removeEventListener('popstate', onPop);
      clearTimeout(timer.current);
    };
  }, []);
  const move = useCallback((seq: number | undefined, isJump: boolean) => {
    setWanted(seq);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => writeAddress(seq, isJump), isJump ? 0 : addressAfterMs);
  }, []);
  const go = useCallback(
    (seq: number, isJump = false) => move(Math.max(1, Math.min(latest.current, seq)), isJump),
    [move],
  );
  const goLive = useCallback(() => move(undefined, true), [move]);
  const seq = wanted === undefined || Number.isNaN(wanted) ? count : Math.min(wanted, count);
  return useMemo(() => ({ seq, isLive, go, goLive, wanted }), [seq, isLive, go, goLive, wanted]);
}

/** `seq` of the address: `?at=142`. A text that is no number of an event gives `NaN`. */
function wantedSeq(): number | undefined {
  const text = new URLSearchParams(location.search).get('at');
  if (text === null) return undefined;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
}

function writeAddress(seq: number | undefined, isJump: boolean): void {
  const address = new URL(location.href);
  if (seq === undefined) address.searchParams.delete('at');
  else address.searchParams.set('at', String(seq));
  if (address.href === location.href) return;
  if (isJump) history.pushState(history.state, '', address);
  else history.replaceState(history.state, '', address);
}
