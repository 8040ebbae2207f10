import type { EventOf } from 'adjutant';
import { isKnown } from '../feed/known-events.ts';
import { filled } from '../full-screen/keys-line.ts';
import type { TextSearch } from '../full-screen/text-search.ts';
import { accent, gutterSign, lineSpans, type Space, toned } from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import { sign } from '../text/signs.ts';
import { type Line, spansOf, splitLines, textOfLine } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { cutText, wrapLine } from '../text/wrap.ts';
import { timeText } from './event-row.ts';
import { actorOf, eventWords } from './event-words.ts';
import type { TraceIndex } from './trace-index.ts';
import { rowsOf, type TraceMode, type TraceMove } from './trace-mode.ts';

const labelWidth = 10;
const timeFrom = 60;
/** Items whose lines are kept for the next frame. */
const mostKept = 500;

/** Place of a line: the item, and the line in it. */
interface Spot {
  readonly item: number;
  readonly line: number;
}

/** The texts that were said and the calls that were made, whole. */
export class ContentMode implements TraceMode {
  readonly #index: TraceIndex;
  /** Places of what is shown, in order. */
  #items: number[] = [];
  #seen = 0;
  #words: readonly string[] = [];
  #kept = new Map<number, readonly Line[]>();
  #space: Space = { columns: 80, ascii: false };
  #top: Spot = { item: 0, line: 0 };
  #marked: Spot = { item: 0, line: 0 };
  #room = 1;

  constructor(index: TraceIndex) {
    this.#index = index;
    this.grow();
    this.move('last');
  }

  readonly keys: readonly string[] = ['↑↓ line', 'PgUp PgDn', '/ search', 'f filter'];

  get place(): number | undefined {
    return this.#items[this.#marked.item];
  }

  get count(): string {
    return `${this.#items.length} of ${this.#index.length} events`;
  }

  get fact(): string {
    return `filter: ${this.#words.length === 0 ? 'none' : this.#words.join(' ')}`;
  }

  grow(): void {
    const isAtEnd = this.#marked.item >= this.#items.length - 1;
    const before = this.#items.length;
    for (; this.#seen < this.#index.length; this.#seen++)
      if (this.#isShown(this.#seen)) this.#items.push(this.#seen);
    if (isAtEnd && this.#items.length > before && before > 0) this.move('last');
  }

  #isShown(place: number): boolean {
    const event = this.#index.event(place);
    const isContent =
      !isKnown(event) ||
      ['user', 'assistant', 'thought', 'tool_call', 'handoff', 'error'].includes(event.type);
    if (!isContent || this.#words.length === 0) return isContent;
    const text = `${actorOf(this.#index, event)} ${this.#text(place)}`.toLowerCase();
    return this.#words.every((word) => text.includes(word.toLowerCase()));
  }

  filter(words: readonly string[]): void {
    const { place = 0 } = this;
    this.#words = words;
    this.#items = [];
    this.#seen = 0;
    this.grow();
    this.goTo(place);
  }

  goTo(place: number): void {
    let item = this.#items.findIndex((one) => one >= place);
    if (item === -1) item = Math.max(0, this.#items.length - 1);
    if ((this.#items[item] ?? 0) > place && item > 0) item--;
    this.#marked = { item, line: 0 };
  }

  find(search: TextSearch, by: 1 | -1): boolean {
    const count = this.#items.length;
    for (let step = 1; step <= count; step++) {
      const item = (((this.#marked.item + by * step) % count) + count) % count;
      if (!search.isIn(this.#text(this.#items[item] ?? 0))) continue;
      const lines = this.#linesOf(item);
      const line = lines.findIndex((one) => search.isIn(textOfLine(one)));
      this.#marked = { item, line: Math.max(0, line) };
      return true;
    }
    return false;
  }

  key(): boolean {
    return false;
  }

  move(move: TraceMove): void {
    if (this.#items.length === 0) return;
    const last = this.#items.length - 1;
    if (move === 'first') this.#marked = { item: 0, line: 0 };
    else if (move === 'last')
      this.#marked = { item: last, line: Math.max(0, this.#linesOf(last).length - 1) };
    else this.#marked = this.#moved(this.#marked, rowsOf(move, this.#room));
  }

  /** The spot some lines away, or the first or last one. */
  #moved({ item, line }: Spot, by: number): Spot {
    let [atItem, atLine] = [item, line + by];
    while (atLine < 0 && atItem > 0) atLine += this.#linesOf(--atItem).length;
    for (;;) {
      const { length } = this.#linesOf(atItem);
      if (atLine < length) break;
      if (atItem === this.#items.length - 1) return { item: atItem, line: Math.max(0, length - 1) };
      atLine -= length;
      atItem++;
    }
    return { item: atItem, line: Math.max(0, atLine) };
  }

  lines(screen: Screen, height: number, search: TextSearch): readonly Line[] {
    if (this.#space.columns !== screen.columns || this.#space.ascii !== screen.ascii)
      this.#kept.clear();
    this.#space = screen;
    this.#room = Math.max(1, height);
    if (this.#items.length === 0)
      return filled([[{ text: '  nothing was said yet', dim: true }]], height);
    this.#marked = this.#within(this.#marked);
    this.#scroll();
    const shown: Line[] = [];
    for (let spot: Spot = this.#top; shown.length < height; ) {
      const isMarked = isSame(spot, this.#marked);
      const line = search.marked(this.#linesOf(spot.item)[spot.line] ?? []);
      const mark = isMarked ? gutterSign('user', { color: accent }, screen) : { text: '  ' };
      shown.push([mark, ...line]);
      const next = this.#moved(spot, 1);
      if (isSame(next, spot)) break;
      spot = next;
    }
    return filled(shown, height);
  }

  #within({ item, line }: Spot): Spot {
    return { item, line: Math.min(line, Math.max(0, this.#linesOf(item).length - 1)) };
  }

  /** Moves what is shown so that the marked line is among it, and the room is used. */
  #scroll(): void {
    const last = this.#moved(this.#marked, -(this.#room - 1));
    this.#top = this.#within(this.#top);
    if (isBefore(this.#marked, this.#top)) this.#top = this.#marked;
    if (isBefore(this.#top, last)) this.#top = last;
    const end: Spot = { item: this.#items.length - 1, line: Number.MAX_SAFE_INTEGER };
    const lowest = this.#moved(this.#within(end), -(this.#room - 1));
    if (isBefore(lowest, this.#top)) this.#top = lowest;
  }

  #linesOf(item: number): readonly Line[] {
    const place = this.#items[item] ?? 0;
    const kept = this.#kept.get(place);
    if (kept !== undefined) return kept;
    if (this.#kept.size > mostKept) this.#kept.clear();
    const lines = this.#itemLines(place);
    // The outcome of an open call is still to come.
    if (this.#isWhole(place)) this.#kept.set(place, lines);
    return lines;
  }

  #isWhole(place: number): boolean {
    const { type } = this.#index.event(place);
    return type !== 'tool_call' || this.#index.endOf(place) !== undefined;
  }

  #text(place: number): string {
    const event = this.#index.event(place);
    if (!isKnown(event)) return eventWords(this.#index, place).text;
    if (event.type === 'tool_call') return `${event.name} ${JSON.stringify(event.args)}`;
    if (event.type === 'assistant' && event.text === '')
      return JSON.stringify(event.output, undefined, 2) ?? '';
    if ('text' in event && typeof event.text === 'string') return event.text;
    return eventWords(this.#index, place).text;
  }

  #itemLines(place: number): Line[] {
    const event = this.#index.event(place);
    const time = this.#space.columns >= timeFrom ? `${timeText(event).padEnd(8)}  ` : '';
    const seq = `${String(event.seq).padStart(3)}  ${time}`;
    const label = this.#label(place);
    const name = cutText(label, labelWidth, sign('ellipsis', this.#space.ascii));
    const blanks = labelWidth + 2 - displayWidth(name);
    const look = event.type === 'thought' ? { dim: true } : {};
    const indent = seq.length + labelWidth + 2;
    const room = Math.max(8, this.#space.columns - 3 - indent);
    const text = splitLines(spansOf(visible(this.#text(place), 'prose').pieces, look));
    const outcome = this.#outcome(place);
    const lines = text.flatMap((line, at) =>
      wrapLine(at === text.length - 1 ? [...line, ...outcome] : line, room),
    );
    return lines.map((line, at) =>
      at === 0
        ? [
            { text: seq, dim: true },
            { text: `${name}${' '.repeat(blanks)}`, bold: event.type === 'user' },
            ...line,
          ]
        : [{ text: ' '.repeat(indent) }, ...line],
    );
  }

  #label(place: number): string {
    const event = this.#index.event(place);
    if (event.type === 'thought') return 'thought';
    return event.type === 'tool_call' ? 'call' : actorOf(this.#index, event);
  }

  /** The outcome of a call behind it. */
  #outcome(place: number): Line {
    const event = this.#index.event(place);
    if (!isKnown(event) || event.type !== 'tool_call') return [];
    const end = this.#index.endOf(place) as EventOf<'tool_result'> | undefined;
    const arrow = `  ${sign('arrow', this.#space.ascii)}  `;
    if (end === undefined)
      return [{ text: `${arrow}${sign('ellipsis', this.#space.ascii)}`, dim: true }];
    const { tone, text } = eventWords(this.#index, this.#index.placeOf(end.seq));
    const [first = '', ...more] = text.replace(/^success /, '').split('\n');
    const dots = more.length > 0 ? ` ${sign('ellipsis', this.#space.ascii)}` : '';
    return [
      { text: arrow, dim: true },
      ...lineSpans(first, toned(tone)),
      { text: dots, dim: true },
    ];
  }
}

function isSame(a: Spot, b: Spot): boolean {
  return a.item === b.item && a.line === b.line;
}

function isBefore(a: Spot, b: Spot): boolean {
  return a.item < b.item || (a.item === b.item && a.line < b.line);
}
