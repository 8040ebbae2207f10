import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { clock } from '../../../components/format.ts';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { useLate } from '../../../components/use-late.ts';
import { inline, visible } from '../../../components/visible-text.ts';
import { Creature } from '../../../creatures/creature.tsx';
import type { Columns } from '../../../ledger/columns.ts';
import type { LedgerEvent } from '../../../ledger/event-pages.ts';
import { eventWords, fieldsOf } from '../../../ledger/event-words.ts';
import type { FollowedLedger } from '../../../ledger/followed-ledger.ts';
import type { EventKind } from '../../../ledger/kinds.ts';
import type { Position } from '../position.ts';
import styles from './transcript.module.css';

/** Types of events that are part of the conversation. */
const told: ReadonlySet<string> = new Set([
  'user',
  'assistant',
  'thought',
  'tool_call',
  'tool_yield',
  'compaction',
  'handoff',
  'cancel',
]);
const failedToo: ReadonlySet<string> = new Set(['tool_result', 'invocation_end']);

const settledAfterMs = 100;

interface TranscriptProps {
  readonly ledger: FollowedLedger;
  readonly position: Position;
}

/** The session as a conversation. What is later than the chosen event is there, but faint. */
export function Transcript({ ledger, position }: TranscriptProps) {
  const { columns } = ledger;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the columns
  const entries = useMemo(() => entriesOf(columns), [columns, ledger.shape]);
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 56,
    overscan: 8,
    paddingEnd: 36,
    scrollPaddingEnd: 36,
    getItemKey: (index) => entries[index] ?? index,
  });
  const current = lastAtOrBefore(entries, position.seq);
  const { isLive } = position;
  const streamed = isLive ? [...ledger.streamed] : [];
  const length = streamed.reduce((sum, [, text]) => sum + text.length, 0);
  // Entries have the heights of their texts: to find one costs more than a frame of a drag has.
  const settled = useLate(isLive ? entries.length - 1 : current, settledAfterMs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: streamed text moves the end
  useEffect(() => {
    if (settled >= 0 && settled < entries.length)
      virtual.scrollToIndex(settled, { align: isLive ? 'end' : 'auto' });
  }, [virtual, settled, isLive, length]);
  return (
    <section ref={scroll} className={styles['transcript']} aria-label="Transcript" tabIndex={0}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div
            key={entries[index]}
            ref={virtual.measureElement}
            data-index={index}
            className={styles['place']}
            style={{ transform: `translateY(${start}px)` }}
          >
            {index === current + 1 && !isLive ? (
              <p className={styles['now']}>#{position.seq} · what follows has not happened yet</p>
            ) : null}
            <Entry
              ledger={ledger}
              seq={entries[index] ?? 0}
              isCurrent={index === current && !isLive}
              position={position}
            />
          </div>
        ))}
      </div>
      {streamed.map(([invocation, text]) => (
        <div key={invocation} className={styles['streamed']}>
          <bdi>{visible(text)}</bdi>
        </div>
      ))}
    </section>
  );
}

/** Returns the events that are part of the conversation. */
function entriesOf(columns: Columns): readonly number[] {
  const seqs: number[] = [];
  for (let seq = 1; seq <= columns.count; seq++) {
    const type = columns.typeAt(seq);
    if (told.has(type) || (failedToo.has(type) && columns.kindAt(seq) === 'error')) seqs.push(seq);
  }
  return seqs;
}

/** Index of the last number that is not above a limit; -1 for none. */
function lastAtOrBefore(numbers: readonly number[], limit: number): number {
  let low = -1;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? Number.POSITIVE_INFINITY) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface EntryProps {
  readonly ledger: FollowedLedger;
  readonly seq: number;
  readonly isCurrent: boolean;
  readonly position: Position;
}

function Entry({ ledger, seq, isCurrent, position }: EntryProps) {
  const event = ledger.event(seq);
  const depth = (ledger.columns.eventAt(seq)?.invocation ?? '').split('/').length - 1;
  return (
    <button
      type="button"
      className={styles['entry']}
      data-later={seq > position.seq || undefined}
      aria-current={isCurrent || undefined}
      style={{ paddingLeft: 16 + Math.min(3, depth) * 12 }}
      onClick={() => position.go(seq, true)}
    >
      {event === undefined ? <span className={styles['unread']} /> : <Told event={event} />}
    </button>
  );
}

function Told({ event }: { readonly event: LedgerEvent }) {
  switch (event.type) {
    case 'user':
    case 'assistant':
    case 'thought':
      return <Speech event={event} />;
    case 'tool_yield':
      return <Asked event={event} />;
    case 'tool_call':
      return <Line kind="tool" label="tool" name={event['name']} words={inline(event['args'])} />;
    case 'tool_result':
    case 'invocation_end':
      return (
        <Line
          kind="error"
          label="failed"
          name={event['name'] ?? event.type}
          words={failureWords(event)}
        />
      );
    default:
      return <Line kind="control" name={event.type} words={eventWords(event)} />;
  }
}

function failureWords(event: LedgerEvent): string {
  const { status, content } = fieldsOf(event['result']);
  return status === undefined ? eventWords(event) : `${inline(status)} ${inline(content)}`;
}

function Speech({ event }: { readonly event: LedgerEvent }) {
  const name = event.type === 'user' ? String(event['by'] ?? 'user') : String(event['agent']);
  return (
    <>
      {event.type === 'user' ? (
        <span className={styles['person']} aria-hidden="true">
          {name.slice(0, 1).toUpperCase()}
        </span>
      ) : (
        <Creature name={name} size={22} />
      )}
      <span className={styles['speech']} data-type={event.type}>
        <span className={styles['name']}>
          <bdi>{visible(name)}</bdi>
          <i>{clock(Number(event['at']))}</i>
        </span>
        <span className={styles['text']}>
          <bdi>{visible(speech(event))}</bdi>
        </span>
      </span>
    </>
  );
}

function Asked({ event }: { readonly event: LedgerEvent }) {
  return (
    <>
      <KindGlyph kind="wait" label="request" />
      <span className={styles['request']}>
        <b>
          <bdi>{eventWords(event)}</bdi>
        </b>
        <span className="faint">{inline(event['args'])}</span>
      </span>
    </>
  );
}

interface LineProps {
  readonly kind: EventKind;
  readonly label?: string;
  readonly name: unknown;
  readonly words: string;
}

function Line({ kind, label, name, words }: LineProps) {
  return (
    <>
      <KindGlyph kind={kind} {...(label === undefined ? {} : { label })} />
      <span className={styles['line']} data-failed={kind === 'error' || undefined}>
        <b>{inline(name, 60)}</b>
        <span className="cut">
          <bdi>{words}</bdi>
        </span>
      </span>
    </>
  );
}

const longestSpeech = 4_000;

function speech(event: LedgerEvent): string {
  const { text, output } = event as { readonly text?: unknown; readonly output?: unknown };
  const { $blob, preview, size } = fieldsOf(text);
  if ($blob !== undefined) return `${String(preview)}… (${String(size)} bytes)`;
  const said =
    typeof text === 'string' && text !== '' ? text : JSON.stringify(output ?? text ?? '');
  return said.length > longestSpeech ? `${said.slice(0, longestSpeech)}…` : said;
}
