import { isKnown } from '../feed/known-events.ts';
import { filled, windowStart } from '../full-screen/keys-line.ts';
import type { TextSearch } from '../full-screen/text-search.ts';
import { type LogBook, type LogEntry, type LogLevel, logLevels } from '../log/log-book.ts';
import { accent, gutterSign, lineSpans, type Space, spread, toned } from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutText } from '../text/wrap.ts';
import type { TraceIndex } from './trace-index.ts';
import { rowsOf, type TraceMode, type TraceMove } from './trace-mode.ts';
import { nextPlace } from './trace-rows.ts';

const tones = { debug: 'plain', info: 'plain', warn: 'attention', error: 'failure' } as const;
const sourceWidth = 10;

/** The lines that were logged, with the events beside which they came. */
export class LogMode implements TraceMode {
  readonly #book: LogBook;
  readonly #index: TraceIndex;
  #shown: readonly LogEntry[] = [];
  /** Newest entry that was there when the rows were made, and the number that had been dropped. */
  #newest: LogEntry | undefined;
  #words: readonly string[] = [];
  #level: LogLevel = 'info';
  #marked = 0;
  #first = 0;
  #room = 1;

  constructor(book: LogBook, index: TraceIndex) {
    this.#book = book;
    this.#index = index;
    this.#renew();
    this.move('last');
  }

  readonly keys: readonly string[] = ['↑↓ line', '+ - level', '/ search', 'f filter'];

  /** The newest event before the marked line. */
  get place(): number | undefined {
    const entry = this.#shown[this.#marked];
    if (entry === undefined || this.#index.length === 0) return undefined;
    return Math.max(0, this.#after(entry.at) - 1);
  }

  get count(): string {
    const { length } = this.#shown;
    const older = this.#book.dropped > 0 ? ', older ones are gone' : '';
    return `${length} line${length === 1 ? '' : 's'}${older}`;
  }

  get fact(): string {
    const words = this.#words.length === 0 ? '' : ` · filter: ${this.#words.join(' ')}`;
    return `level: ${this.#level}+${words}`;
  }

  grow(): void {
    if (this.#newest === this.#book.entries.at(-1)) return;
    const isAtEnd = this.#marked >= this.#shown.length - 1;
    this.#renew();
    if (isAtEnd) this.move('last');
  }

  #renew(): void {
    const { entries } = this.#book;
    const least = logLevels.indexOf(this.#level);
    const wanted = this.#words.map((word) => word.toLowerCase());
    this.#newest = entries.at(-1);
    this.#shown = entries.filter(({ level, source, text }) => {
      if (logLevels.indexOf(level) < least) return false;
      const all = `${level} ${source} ${text}`.toLowerCase();
      return wanted.every((word) => all.includes(word));
    });
    this.#marked = Math.max(0, Math.min(this.#marked, this.#shown.length - 1));
  }

  move(move: TraceMove): void {
    const row = this.#marked + rowsOf(move, this.#room);
    this.#marked = Math.max(0, Math.min(row, this.#shown.length - 1));
  }

  goTo(place: number): void {
    const event = this.#index.length === 0 ? undefined : this.#index.event(place);
    if (event === undefined || !isKnown(event)) return;
    const row = this.#shown.findIndex(({ at }) => at >= event.at);
    this.#marked = row === -1 ? Math.max(0, this.#shown.length - 1) : row;
  }

  filter(words: readonly string[]): void {
    this.#words = words;
    this.#renew();
  }

  find(search: TextSearch, by: 1 | -1): boolean {
    const found = nextPlace(this.#shown.length, this.#marked, by, (row) => {
      const { source, text } = this.#shown[row] as LogEntry;
      return search.isIn(`${source} ${text}`);
    });
    if (found !== undefined) this.#marked = found;
    return found !== undefined;
  }

  key(key: string): boolean {
    if (key !== '+' && key !== '-') return false;
    const next = logLevels.indexOf(this.#level) + (key === '+' ? 1 : -1);
    this.#level = logLevels[Math.max(0, Math.min(next, logLevels.length - 1))] ?? this.#level;
    this.#renew();
    return true;
  }

  lines(screen: Screen, height: number, search: TextSearch): readonly Line[] {
    this.#room = Math.max(1, height);
    if (this.#shown.length === 0)
      return filled([[{ text: '  nothing was logged', dim: true }]], height);
    this.#first = windowStart(this.#first, this.#marked, this.#room, this.#shown.length);
    const rows = this.#shown
      .slice(this.#first, this.#first + this.#room)
      .map((entry, at) => this.#row(entry, this.#first + at === this.#marked, screen, search));
    return filled(rows, height);
  }

  #row(entry: LogEntry, isMarked: boolean, space: Space, search: TextSearch): Line {
    const { at, level, source, text } = entry;
    const date = new Date(at);
    const time = [date.getHours(), date.getMinutes(), date.getSeconds()]
      .map((part) => String(part).padStart(2, '0'))
      .join(':');
    const name = cutText(textOf(source), sourceWidth, sign('ellipsis', space.ascii));
    const left: Line = [
      isMarked ? gutterSign('user', { color: accent }, space) : { text: '  ' },
      { text: `${time}  `, dim: true },
      { ...toned(tones[level]), text: `${level.toUpperCase().padEnd(5)}  ` },
      { text: `${name}${' '.repeat(sourceWidth - displayWidth(name))}  `, dim: true },
      ...lineSpans(text, level === 'debug' ? { dim: true } : {}),
    ];
    return search.marked(spread(left, { facts: [this.#beside(at, space)] }, space));
  }

  /** The events between which a line was logged. */
  #beside(at: number, { ascii }: Space): string {
    const after = this.#after(at);
    const [before, next] = [after - 1, after].map((place) =>
      place < 0 || place >= this.#index.length ? undefined : this.#index.event(place).seq,
    );
    if (before === undefined && next === undefined) return '';
    if (before === undefined) return `before #${next}`;
    if (next === undefined) return `after #${before}`;
    return `beside #${before}${sign('dash', ascii)}#${next}`;
  }

  /** Place of the first event after a time. */
  #after(at: number): number {
    let low = 0;
    let high = this.#index.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const event = this.#index.event(middle);
      if (!isKnown(event) || event.at <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function textOf(source: string): string {
  return lineSpans(source)
    .map(({ text }) => text)
    .join('');
}
