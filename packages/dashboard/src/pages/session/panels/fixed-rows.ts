import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

/** Rows of a list that are there: those in sight and a few beyond each edge. */
export interface FixedRows {
  readonly first: number;
  /** Index behind the last one. */
  readonly end: number;
  /** Brings a row into sight, if it is not there: with as little movement as needed. */
  readonly show: (index: number) => void;
  readonly scroll: React.RefObject<HTMLDivElement | null>;
}

interface FixedRowsOptions {
  readonly count: number;
  readonly rowHeight: number;
  /** Pixels at the lower edge that something else covers. */
  readonly covered: number;
}

const beyond = 10;

/**
 * A virtual list of rows of one height. It never asks the browser where something is: a scrubber
 * moves through it sixty times a second.
 */
export function useFixedRows({ count, rowHeight, covered }: FixedRowsOptions): FixedRows {
  const scroll = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const latest = useRef({ top, count });
  latest.current.count = count;
  useEffect(() => {
    const element = scroll.current;
    if (element === null) return undefined;
    const onScroll = (): void => {
      latest.current.top = element.scrollTop;
      setTop(element.scrollTop);
    };
    const watch = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setHeight(entry.contentRect.height);
    });
    watch.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, []);
  const show = useCallback(
    (index: number) => {
      const { top: from, count: rows } = latest.current;
      const at = index * rowHeight;
      const last = Math.max(0, rows * rowHeight + covered - height);
      const wanted =
        at < from
          ? at
          : at + rowHeight > from + height - covered
            ? at + rowHeight - height + covered
            : from;
      const next = Math.max(0, Math.min(last, wanted));
      if (next === from || scroll.current === null) return;
      latest.current.top = next;
      scroll.current.scrollTop = next;
      setTop(next);
    },
    [rowHeight, covered, height],
  );
  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + beyond);
  return useMemo(() => ({ first, end, show, scroll }), [first, end, show]);
}
