import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import styles from './virtual-rows.module.css';

/** A row for its list: whether the keys are at it. */
export interface RowPlace {
  readonly index: number;
  /** Only this row is in the order of Tab: arrows go to the others. */
  readonly isCurrent: boolean;
}

interface VirtualRowsProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** Pixels of a row. */
  readonly heightOf: (item: Item) => number;
  readonly children: (item: Item, place: RowPlace) => React.ReactNode;
  /** Tells whether arrows stop at a row. @default at each */
  readonly isStop?: (item: Item) => boolean;
  /** Row that the keys begin at. @default the first one */
  readonly current?: string | undefined;
  /** Called when arrows go to a row. */
  readonly onCurrent?: (item: Item) => void;
  /** Called when the last rows come in sight. */
  readonly onEnd?: () => void;
  /** Called with keys that are pressed in a row. */
  readonly onKey?: (event: React.KeyboardEvent, item: Item) => void;
}

const rowsBeyond = 10;

/**
 * A list that scrolls with the page, of which only the rows in sight are there. Arrows go from row
 * to row: what has the attribute `data-row` in one gets the focus.
 */
export function VirtualRows<Item>(props: VirtualRowsProps<Item>) {
  const { items, keyOf, heightOf, onEnd } = props;
  const list = useRef<HTMLDivElement>(null);
  const margin = useMargin(list, items.length === 0);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scrollerOf(list.current),
    estimateSize: (index) => heightOf(items[index] as Item),
    getItemKey: (index) => keyOf(items[index] as Item),
    overscan: rowsBeyond,
    scrollMargin: margin,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other items may have other heights
  useEffect(() => virtual.measure(), [virtual, items, heightOf]);
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= items.length - 1 && items.length > 0) onEnd?.();
  }, [last, items.length, onEnd]);
  const { current, onKeyDown, onFocus } = useArrows(props, list, virtual);
  return (
    <div
      ref={list}
      className={styles['list']}
      role="list"
      aria-label={props.label}
      style={{ height: virtual.getTotalSize() }}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
    >
      {rows.map(({ index, key, size, start }) => (
        <div
          key={key}
          className={styles['row']}
          role="listitem"
          aria-setsize={items.length}
          aria-posinset={index + 1}
          data-index={index}
          style={{ height: size, transform: `translateY(${start - margin}px)` }}
        >
          {props.children(items[index] as Item, { index, isCurrent: index === current })}
        </div>
      ))}
    </div>
  );
}

/** The element that scrolls around a list: that of its panel, or the page. */
function scrollerOf(list: HTMLElement | null): HTMLElement | null {
  return list?.closest<HTMLElement>('[data-scroll]') ?? document.getElementById('main');
}

/** Pixels of what stands above a list in its scroller. */
function useMargin(list: React.RefObject<HTMLDivElement | null>, isEmpty: boolean): number {
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const { current } = list;
    const scroller = scrollerOf(current);
    if (current === null || scroller === null || isEmpty) return undefined;
    const measure = (): void =>
      setMargin(
        current.getBoundingClientRect().top -
          scroller.getBoundingClientRect().top +
          scroller.scrollTop,
      );
    const watch = new ResizeObserver(measure);
    for (let above = current.parentElement; above !== null; above = above.parentElement) {
      watch.observe(above);
      if (above === scroller) break;
    }
    measure();
    return () => watch.disconnect();
  }, [list, isEmpty]);
  return margin;
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** Keys of a list: one row of it is in the order of Tab. */
function useArrows<Item>(
  { items, keyOf, isStop = always, current, onCurrent, onKey }: VirtualRowsProps<Item>,
  list: React.RefObject<HTMLDivElement | null>,
  virtual: Virtualizer<HTMLElement, Element>,
) {
  const [focused, setFocused] = useState<string | undefined>();
  const wanted = useRef<number | undefined>(undefined);
  const place = items.findIndex((item) => keyOf(item) === (focused ?? current));
  const index = place === -1 ? Math.max(0, items.findIndex(isStop)) : place;
  // The row may come into being only when the list has scrolled to it.
  useEffect(() => {
    const row = list.current?.querySelector<HTMLElement>(
      `[data-index="${wanted.current}"] [data-row]`,
    );
    if (wanted.current === undefined || row === null || row === undefined) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const item = items[index];
    if (item === undefined || isField(event.target)) return;
    const step = event.altKey || event.metaKey || event.ctrlKey ? undefined : steps[event.key];
    if (step === undefined) {
      onKey?.(event, item);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const next = stopFrom(items, { index, step, isStop });
    const to = items[next] as Item;
    wanted.current = next;
    setFocused(keyOf(to));
    virtual.scrollToIndex(next);
    onCurrent?.(to);
  };
  const onFocus = useCallback(
    (event: React.FocusEvent) => {
      const at = event.target.closest<HTMLElement>('[data-index]')?.dataset['index'];
      const item = items[Number(at)];
      if (item !== undefined) setFocused(keyOf(item));
    },
    [items, keyOf],
  );
  return { current: index, onKeyDown, onFocus };
}

function always(): boolean {
  return true;
}

interface Walk<Item> {
  readonly index: number;
  readonly step: number;
  readonly isStop: (item: Item) => boolean;
}

/** Row at which a step ends; the one that it began at when there is none. */
function stopFrom<Item>(items: readonly Item[], { index, step, isStop }: Walk<Item>): number {
  const by = Math.sign(step);
  let next = Math.max(0, Math.min(items.length - 1, index + step));
  while (next >= 0 && next < items.length && !isStop(items[next] as Item)) next += by;
  return next >= 0 && next < items.length ? next : index;
}

function isField(target: EventTarget): boolean {
  return target instanceof HTMLElement && target.matches('select, textarea, input:not([type])');
}
