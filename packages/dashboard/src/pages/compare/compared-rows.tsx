import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { Icon } from '../../components/icon.tsx';
import { KindGlyph } from '../../components/kind-glyph.tsx';
import { eventWords } from '../../ledger/event-words.ts';
import type { FollowedLedger } from '../../ledger/followed-ledger.ts';
import { type AlignedRow, differing } from './alignment.ts';
import styles from './compared-rows.module.css';

interface ComparedRowsProps {
  readonly left: FollowedLedger;
  readonly right: FollowedLedger;
  readonly shared: number;
  readonly rows: readonly AlignedRow[];
  readonly withShared: boolean;
}

type Line = 'same' | 'divergence' | AlignedRow;
const rowHeight = 35;
const divergenceHeight = 56;
/** Shared events that are shown before the first difference. */
const lead = 1;

/** The events of both, row by row, from the first difference on. */
export function ComparedRows({ left, right, shared, rows, withShared }: ComparedRowsProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => linesOf(shared, rows, withShared), [shared, rows, withShared]);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => (lines[index] === 'divergence' ? divergenceHeight : rowHeight),
    overscan: 10,
  });
  return (
    <div
      ref={scroll}
      className={styles['rows']}
      role="group"
      aria-label="Events of both"
      tabIndex={0}
    >
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start, size }) => (
          <div
            key={index}
            className={styles['place']}
            style={{ height: size, transform: `translateY(${start}px)` }}
          >
            <LineView line={lines[index]} left={left} right={right} shared={shared} />
          </div>
        ))}
      </div>
    </div>
  );
}

function linesOf(
  shared: number,
  rows: readonly AlignedRow[],
  withShared: boolean,
): readonly Line[] {
  const first = withShared ? 1 : Math.max(1, shared - lead + 1);
  const before: Line[] = [];
  for (let seq = first; seq <= shared; seq++) before.push({ left: seq, right: seq });
  return [
    ...(first > 1 ? (['same'] as const) : []),
    ...before,
    ...(rows.length === 0 ? [] : (['divergence'] as const)),
    ...rows,
  ];
}

interface LineViewProps {
  readonly line: Line | undefined;
  readonly left: FollowedLedger;
  readonly right: FollowedLedger;
  readonly shared: number;
}

function LineView({ line, left, right, shared }: LineViewProps) {
  if (line === undefined) return null;
  if (line === 'same')
    return <p className={styles['same']}>{shared - lead} events are the same in both</p>;
  if (line === 'divergence')
    return (
      <div className={styles['divergence']}>
        <Icon name="fork" />
        <b>First divergence: #{shared + 1}</b>
      </div>
    );
  const a = wordsOf(left, line.left);
  const b = wordsOf(right, line.right);
  const isShared = line.left === line.right && (line.left ?? 0) <= shared;
  return (
    <div className={styles['row']} data-differs={(!isShared && a !== b) || undefined}>
      <Cell ledger={left} seq={line.left} words={a} other={isShared ? a : b} mark="del" />
      <span className={styles['seq']}>{line.left ?? `B ${line.right}`}</span>
      <Cell ledger={right} seq={line.right} words={b} other={isShared ? b : a} mark="ins" />
    </div>
  );
}

function wordsOf(ledger: FollowedLedger, seq: number | undefined): string {
  const event = seq === undefined ? undefined : ledger.event(seq);
  return event === undefined ? '' : eventWords(event);
}

interface CellProps {
  readonly ledger: FollowedLedger;
  readonly seq: number | undefined;
  readonly words: string;
  readonly other: string;
  readonly mark: 'del' | 'ins';
}

function Cell({ ledger, seq, words, other, mark: Mark }: CellProps) {
  const event = seq === undefined ? undefined : ledger.columns.eventAt(seq);
  if (event === undefined) return <div className={styles['none']} />;
  const { before, differs, after } = differing(words, other);
  return (
    <div className={styles['cell']}>
      <KindGlyph kind={event.kind} />
      <span className={styles['type']}>{event.type}</span>
      <span className="cut" title={words}>
        <bdi>
          {before}
          {other === '' || differs === '' ? differs : <Mark>{differs}</Mark>}
          {after}
        </bdi>
      </span>
    </div>
  );
}
