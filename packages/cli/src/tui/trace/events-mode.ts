import { isKnown } from '../feed/known-events.ts';
import { filled, windowStart } from '../full-screen/keys-line.ts';
import type { TextSearch } from '../full-screen/text-search.ts';
import type { Space } from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import { sign } from '../text/signs.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine } from '../text/wrap.ts';
import { detailLines, eventDetail } from './event-detail.ts';
import { columnNames, eventRow } from './event-row.ts';
import { actorOf, eventWords } from './event-words.ts';
import { isTrouble, type TraceIndex } from './trace-index.ts';
import { rowsOf, type TraceMode, type TraceMove } from './trace-mode.ts';
import { nextPlace, TraceRows } from './trace-rows.ts';

/** Columns from which on the details stand beside the events, and rows from which on below them. */
const besideFrom = 110;
const belowFrom = 20;
const mostBelow = 12;
const widestDetail = 80;

/** All events in rows, with what there is to know about the marked one. */
export class EventsMode implements TraceMode {
  readonly #index: TraceIndex;
  readonly #rows: TraceRows;
  readonly #now: () => number;
  #marked: number;
  #first = 0;
  #room = 1;

  constructor(index: TraceIndex, now: () => number) {
    this.#index = index;
    this.#now = now;
    this.#rows = new TraceRows(index);
    this.#marked = this.#rows.places.at(-1) ?? 0;
  }

  readonly keys: readonly string[] = [
    '↑↓ event',
    '←→ fold',
    '[ ] round',
    '{ } run',
    '! next trouble',
    '/ search',
    'f filter',
  ];

  get place(): number | undefined {
    return this.#index.length === 0 ? undefined : this.#marked;
  }

  get count(): string {
    const shown = this.#rows.places.length;
    const all = this.#index.length;
    return this.#isFiltered ? `${shown} of ${all} events` : `${all} events`;
  }

  #isFiltered = false;
  #words = '';

  get fact(): string {
    return `filter: ${this.#words === '' ? 'none' : this.#words}`;
  }

  grow(): void {
    const isAtEnd = this.#marked === (this.#rows.places.at(-1) ?? 0);
    this.#rows.grow();
    if (isAtEnd) this.#marked = this.#rows.places.at(-1) ?? 0;
  }

  move(move: TraceMove): void {
    const row = this.#rows.rowOf(this.#marked) + rowsOf(move, this.#room);
    const last = this.#rows.places.length - 1;
    this.#marked = this.#rows.places[Math.max(0, Math.min(row, last))] ?? this.#marked;
  }

  goTo(place: number): void {
    this.#marked = this.#rows.reveal(place);
    this.#settle();
  }

  /** Marks the nearest row above, where the marked event is not among the rows any more. */
  #settle(): void {
    this.#marked = this.#rows.places[this.#rows.rowOf(this.#marked)] ?? this.#marked;
  }

  filter(words: readonly string[]): void {
    this.#words = words.join(' ');
    this.#isFiltered = words.length > 0;
    const wanted = words.map((word) => word.toLowerCase());
    this.#rows.filter(words.length === 0 ? undefined : (place) => this.#has(place, wanted));
    this.#settle();
  }

  #has(place: number, words: readonly string[]): boolean {
    const event = this.#index.event(place);
    const { text } = eventWords(this.#index, place);
    const all = `${event.type} ${actorOf(this.#index, event)} ${text}`.toLowerCase();
    return words.every((word) =>
      word.startsWith('-') && word.length > 1 ? !all.includes(word.slice(1)) : all.includes(word),
    );
  }

  find(search: TextSearch, by: 1 | -1): boolean {
    const { length } = this.#index;
    const found = nextPlace(length, this.#marked, by, (place) => {
      const event = this.#index.event(place);
      return search.isIn(`#${event.seq} ${JSON.stringify(event)}`);
    });
    if (found === undefined) return false;
    this.#marked = this.#rows.reveal(found, true);
    this.#settle();
    return true;
  }

  key(key: string): boolean {
    if (key === '!') return this.#jump(1, (place) => isTrouble(this.#index.event(place)));
    if (key === '[' || key === ']') return this.#jumpTo(key === ']' ? 1 : -1, 'model_start');
    if (key === '{' || key === '}') return this.#jumpTo(key === '}' ? 1 : -1, 'invocation_start');
    if (key === 'tab' || key === 'backTab')
      return this.#jumpTo(key === 'tab' ? 1 : -1, 'model_start', 'tool_call');
    if (key === 'left') return this.#fold();
    return key === 'right' && (this.#rows.open(this.#marked, 1) || true);
  }

  /** Folds the marked event; where there is nothing to fold, goes to what it is a part of. */
  #fold(): boolean {
    const head = this.#index.headOf(this.#marked);
    if (!this.#rows.open(this.#marked, -1) && head !== -1) this.#marked = head;
    this.#settle();
    return true;
  }

  #jumpTo(by: 1 | -1, ...types: readonly string[]): boolean {
    return this.#jump(by, (place) => {
      const event = this.#index.event(place);
      if (!isKnown(event) || !types.includes(event.type)) return false;
      return event.type !== 'invocation_start' || event.mode === 'root';
    });
  }

  #jump(by: 1 | -1, holds: (place: number) => boolean): boolean {
    const found = nextPlace(
      this.#index.length,
      this.#marked,
      by,
      (place) => this.#rows.seenAt(place) !== this.#marked && holds(place),
    );
    if (found !== undefined) this.goTo(found);
    return true;
  }

  lines(screen: Screen, height: number, search: TextSearch): readonly Line[] {
    if (screen.columns >= besideFrom) return this.#beside(screen, height, search);
    const below = screen.rows >= belowFrom ? Math.min(mostBelow, Math.floor(height * 0.4)) : 0;
    const rows = this.#table(screen, height - below, search);
    if (below === 0) return rows;
    return [...rows, [], ...filled(this.#detail(screen, below - 1), below - 1)];
  }

  #beside(screen: Screen, height: number, search: TextSearch): Line[] {
    const right = Math.min(widestDetail, Math.floor(screen.columns * 0.4));
    const left = screen.columns - right;
    const rows = this.#table({ ...screen, columns: left }, height, search);
    const details = filled(this.#detail({ ...screen, columns: right - 2 }, height), height);
    const bar = sign('output', screen.ascii);
    return rows.map((row, at): Line => {
      const blanks = Math.max(0, left - displayWidth(textOfLine(row)));
      return [...row, { text: `${' '.repeat(blanks)}${bar} `, dim: true }, ...(details[at] ?? [])];
    });
  }

  #detail(space: Space, most: number): Line[] {
    if (this.#index.length === 0 || most <= 0) return [];
    const detail = eventDetail(this.#index, this.#marked, this.#now());
    return detailLines(detail, space, most);
  }

  #table(space: Space, height: number, search: TextSearch): Line[] {
    const { places } = this.#rows;
    this.#room = Math.max(1, height - 1);
    const row = this.#rows.rowOf(this.#marked);
    this.#first = windowStart(this.#first, row, this.#room, places.length);
    const shown = places.slice(this.#first, this.#first + this.#room).map((place) => {
      const range = this.#rows.rangeOf(place);
      const openness = range === undefined ? undefined : this.#rows.opennessOf(place);
      const state = { isMarked: place === this.#marked, openness, range };
      return search.marked(eventRow(this.#index, place, state, space));
    });
    const none: Line[] = [cutLine([{ text: '  no events', dim: true }], space.columns - 1)];
    return filled([columnNames(space), ...(places.length === 0 ? none : shown)], height);
  }
}
