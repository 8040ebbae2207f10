import { memo, useEffect, useMemo, useState } from 'react';
import { clock } from '../../../components/format.ts';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { SearchField } from '../../../components/search-field.tsx';
import { PlaceHolder } from '../../../components/states.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import type { Columns } from '../../../ledger/columns.ts';
import type { LedgerEvent } from '../../../ledger/event-pages.ts';
import { eventWords } from '../../../ledger/event-words.ts';
import type { FollowedLedger } from '../../../ledger/followed-ledger.ts';
import { type EventKind, kindNames } from '../../../ledger/kinds.ts';
import type { Position } from '../position.ts';
import styles from './event-list.module.css';
import { useFixedRows } from './fixed-rows.ts';
import { Found } from './found.tsx';
import { useTextSearch } from './use-text-search.ts';

interface EventListProps {
  readonly ledger: FollowedLedger;
  readonly position: Position;
}

type Filter = EventKind | 'all';
const rowHeight = 28;
/** The words about the reader's place hang over the last rows. */
const coveredBelow = 36;

/** The ledger as a list: rows of fixed height, of which only those in sight are there. */
export function EventList({ ledger, position }: EventListProps) {
  const { columns } = ledger;
  const [filter, setFilter] = useState<Filter>('all');
  const [text, setText] = useState('');
  const found = useTextSearch(ledger.session, text, columns.count);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the columns
  const rows = useMemo(
    () => rowsOf(columns, filter, found.seqs),
    [columns, ledger.shape, filter, found.seqs],
  );
  const count = rows.length;
  const { first, end, show, scroll } = useFixedRows({ count, rowHeight, covered: coveredBelow });
  const chosen = rows.indexOf(position.seq);
  const shown = position.isLive ? rows.length - 1 : chosen;
  useEffect(() => {
    if (shown >= 0) show(shown);
  }, [shown, show]);
  return (
    <section className={styles['list']} aria-label="Ledger">
      <Filters filter={filter} onFilter={setFilter} text={text} onText={setText} />
      <div
        ref={scroll}
        className={styles['rows']}
        role="listbox"
        tabIndex={0}
        aria-label="Events"
        aria-activedescendant={chosen === -1 ? undefined : `event-${position.seq}`}
        onKeyDown={(event) => {
          const step = ({ ArrowUp: -1, ArrowDown: 1 } as const)[event.key];
          if (step === undefined) return;
          event.preventDefault();
          const next = columns.find(position.seq, step, (seq) => rows.includes(seq));
          if (next !== undefined) position.go(next);
        }}
      >
        {rows.length === 0 ? (
          <PlaceHolder title={emptyWords(columns.count, text, found)} />
        ) : (
          <div style={{ height: rows.length * rowHeight + coveredBelow, position: 'relative' }}>
            {Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i).map((index) => (
              <Row
                key={rows[index]}
                columns={columns}
                seq={rows[index] ?? 0}
                body={ledger.event(rows[index] ?? 0)}
                index={index}
                of={count}
                isChosen={rows[index] === position.seq}
                isLater={(rows[index] ?? 0) > position.seq}
                text={text}
                go={position.go}
              />
            ))}
          </div>
        )}
      </div>
    </section>
  );
}

interface FiltersProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function Filters({ filter, onFilter, text, onText }: FiltersProps) {
  return (
    <header className={styles['head']}>
      <h2>Ledger</h2>
      <div className={styles['chips']} role="group" aria-label="Kinds of events">
        {([['all', 'All'], ...kindNames] as const).map(([kind, words]) => (
          <button
            key={kind}
            type="button"
            aria-pressed={filter === kind}
            onClick={() => onFilter(kind)}
          >
            {kind === 'all' ? null : <KindGlyph kind={kind} />}
            {words}
          </button>
        ))}
      </div>
      <SearchField label="Find in events" value={text} onChange={onText} />
    </header>
  );
}

/** All places are written with fewer numbers while nothing is filtered. */
interface Rows {
  readonly length: number;
  readonly [index: number]: number;
  indexOf(seq: number): number;
  includes(seq: number): boolean;
}

function rowsOf(
  columns: FollowedLedger['columns'],
  filter: Filter,
  found: ReadonlySet<number> | undefined,
): Rows {
  const { count } = columns;
  if (filter === 'all' && found === undefined)
    return new Proxy({} as Rows, {
      get: (_, name) => {
        if (name === 'length') return count;
        if (name === 'indexOf') return (seq: number) => (seq >= 1 && seq <= count ? seq - 1 : -1);
        if (name === 'includes') return (seq: number) => seq >= 1 && seq <= count;
        return typeof name === 'string' && /^\d+$/.test(name) ? Number(name) + 1 : undefined;
      },
    });
  const seqs: number[] = [];
  for (let seq = 1; seq <= count; seq++)
    if ((filter === 'all' || columns.kindAt(seq) === filter) && (found?.has(seq) ?? true))
      seqs.push(seq);
  return seqs;
}

function emptyWords(
  count: number,
  text: string,
  { isReading, problem }: ReturnType<typeof useTextSearch>,
): string {
  if (count === 0) return 'Nothing has happened in this session yet.';
  if (problem !== undefined) return `The search ended early: ${firstLine(problem)}`;
  if (isReading) return 'Still searching.';
  const events = `${count.toLocaleString('en')} events`;
  return text === ''
    ? `None of ${events} is of this kind.`
    : `No event matches “${text}” in ${events}.`;
}

interface RowProps {
  readonly columns: Columns;
  readonly seq: number;
  /** The event, when it has been read. */
  readonly body: LedgerEvent | undefined;
  readonly index: number;
  /** Number of rows. */
  readonly of: number;
  readonly isChosen: boolean;
  readonly isLater: boolean;
  readonly text: string;
  readonly go: Position['go'];
}

/** A row is drawn again only when something of it has changed: others come and go while one scrolls. */
const Row = memo(function Row(props: RowProps) {
  const { columns, seq, body, index, of, isChosen, isLater, text, go } = props;
  const event = columns.eventAt(seq);
  if (event === undefined) return null;
  return (
    <div
      id={`event-${seq}`}
      className={styles['row']}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      aria-posinset={index + 1}
      aria-setsize={of}
      data-kind={event.kind}
      data-later={isLater || undefined}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
      onClick={() => go(seq, true)}
    >
      <span className={styles['seq']}>{seq}</span>
      <span className={styles['time']}>{clock(event.at, { withMs: true })}</span>
      <KindGlyph kind={event.kind} {...(event.kind === 'error' ? { label: 'failed' } : {})} />
      <span className={styles['type']}>{event.type}</span>
      <span className="cut">
        {body === undefined ? (
          <span className={styles['unread']} />
        ) : (
          <bdi>
            <Found words={eventWords(body)} text={text} />
          </bdi>
        )}
      </span>
    </div>
  );
});
