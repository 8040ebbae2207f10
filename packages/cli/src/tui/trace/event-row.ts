import type { EventOf, StoredEvent } from 'adjutant';
import { formatDuration } from '../../output/format.ts';
import { isKnown } from '../feed/known-events.ts';
import { accent, gutterSign, lineSpans, type Space, toned } from '../screens/layout.ts';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine, cutText } from '../text/wrap.ts';
import { actorOf, eventWords } from './event-words.ts';
import type { Openness, TraceIndex } from './trace-index.ts';

const widths = { seq: 5, time: 8, took: 6, who: 10 } as const;
/** Columns from which on a column is shown. */
const shownFrom = { who: 44, took: 58, time: 66 } as const;

export interface RowState {
  readonly isMarked: boolean;
  /** `undefined`: nothing is folded into the row. */
  readonly openness: Openness | undefined;
  readonly range: readonly [Openness, Openness] | undefined;
}

/** The names of the columns. */
export function columnNames(space: Space): Line {
  const named = (name: string, from: number, width: number, isRight = false): string => {
    if (space.columns < from) return '';
    return `${isRight ? name.padStart(width) : name.padEnd(width)}  `;
  };
  const text =
    `${'seq'.padStart(widths.seq)}  ` +
    named('time', shownFrom.time, widths.time) +
    named('took', shownFrom.took, widths.took, true) +
    named('who', shownFrom.who, widths.who) +
    'event';
  return cutLine([{ text, dim: true }], Math.max(1, space.columns - 1));
}

/** Returns the row of an event. */
export function eventRow(
  index: TraceIndex,
  place: number,
  { isMarked, openness, range }: RowState,
  space: Space,
): Line {
  const event = index.event(place);
  const { sign: name, tone, text, isQuiet = false } = eventWords(index, place);
  const look = isQuiet ? { dim: true } : {};
  const indent = '  '.repeat(Math.min(8, index.depthOf(place)));
  const fold = range === undefined ? ' ' : sign(foldSign(openness, range), space.ascii);
  const line: Line = [
    isMarked ? gutterSign('user', { color: accent, bold: true }, space) : { text: '  ' },
    { text: `${String(event.seq).padStart(widths.seq - 2)}  `, dim: true },
    ...columns(index, place, space),
    { text: `${indent}${fold} `, dim: true },
    { ...toned(tone), text: `${sign(name, space.ascii)} ` },
    ...lineSpans(text, { ...look, ...(isMarked ? { bold: true } : {}) }),
  ];
  return cutLine(line, Math.max(1, space.columns - 1), sign('ellipsis', space.ascii));
}

function foldSign(
  openness: Openness | undefined,
  [, most]: readonly [Openness, Openness],
): 'folded' | 'unfolded' {
  return openness === most ? 'unfolded' : 'folded';
}

function columns(index: TraceIndex, place: number, space: Space): Line {
  const event = index.event(place);
  const shown: string[] = [];
  if (space.columns >= shownFrom.time) shown.push(timeText(event).padEnd(widths.time));
  if (space.columns >= shownFrom.took) shown.push(tookText(index, place).padStart(widths.took));
  const dim = shown.map((text): Line[number] => ({ text: `${text}  `, dim: true }));
  if (space.columns < shownFrom.who) return dim;
  const ellipsis = sign('ellipsis', space.ascii);
  const who = cutText(actorOf(index, event), widths.who, ellipsis);
  return [...dim, { text: `${who}${' '.repeat(widths.who - displayWidth(who))}  ` }];
}

/** Time of day of an event. */
export function timeText(event: StoredEvent): string {
  if (!isKnown(event)) return '';
  const date = new Date(event.at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** The time that a call, a result or an invocation took, in at most six columns. */
function tookText(index: TraceIndex, place: number): string {
  const ms = tookMs(index, place);
  if (ms === undefined) return '';
  if (ms >= 59_950 && ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return ms >= 36_000_000 ? `${Math.round(ms / 3_600_000)} h` : formatDuration(ms);
}

function tookMs(index: TraceIndex, place: number): number | undefined {
  const event = index.event(place);
  if (!isKnown(event)) return undefined;
  if (event.type === 'tool_result' || event.type === 'model_end') return event.durationMs;
  const end = index.endOf(place);
  if (end === undefined) return undefined;
  return event.type === 'invocation_start'
    ? end.at - event.at
    : (end as EventOf<'tool_result'>).durationMs;
}
