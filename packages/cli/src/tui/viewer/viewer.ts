import { describeFailure } from '../../failure.ts';
import type { FullView } from '../app/control.ts';
import type { Input } from '../editor/keys.ts';
import { filled, keysLine } from '../full-screen/keys-line.ts';
import { LineInput } from '../full-screen/line-input.ts';
import type { ViewActs } from '../full-screen/stacked-view.ts';
import { TextSearch } from '../full-screen/text-search.ts';
import { lineSpans, type Space, spread } from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { cutLine } from '../text/wrap.ts';
import { ViewedText } from './viewed-text.ts';

/** A text to look at as a whole. It is made when it is looked at. */
export interface ViewerPage {
  /** `#38 tool_result · runTests · exit 1 · 9.8 kB`. */
  readonly title: string;
  readonly text: () => string | Promise<string>;
}

const keys = [
  '↑↓ PgUp PgDn g G',
  '/ search n N',
  'w wrap',
  'y copy',
  'p print',
  '^O next',
  'q back',
] as const;

/** The whole output of a call, or an event, with numbers of its lines. */
export class Viewer implements FullView {
  readonly #pages: readonly ViewerPage[];
  readonly #acts: ViewActs;
  #page = 0;
  #text = new ViewedText('');
  #top = 0;
  #wraps = false;
  #search = new TextSearch('');
  #typing: LineInput | undefined;
  #notice = '';
  /** Lines that the last frame had room for. */
  #room = 1;
  #space: Space = { columns: 80, ascii: false };

  /** @param pages from the newest one, which is shown first; at least one */
  constructor(pages: readonly ViewerPage[], acts: ViewActs) {
    this.#pages = pages;
    this.#acts = acts;
    this.#open();
  }

  /** Reads the page. One that was asked for later goes first. */
  #open(): void {
    const page = this.#shown;
    this.#top = 0;
    const text = page.text();
    this.#text = new ViewedText(typeof text === 'string' ? text : '');
    if (typeof text === 'string') return;
    this.#notice = 'reading';
    void text.catch(describeFailure).then((read) => {
      if (this.#shown !== page) return;
      this.#text = new ViewedText(read);
      this.#notice = '';
      this.#acts.changed();
    });
  }

  get #shown(): ViewerPage {
    const page = this.#pages[this.#page];
    if (page === undefined) throw new RangeError('A viewer has at least one page.');
    return page;
  }

  take(input: Input): boolean {
    this.#notice = '';
    if (this.#typing !== undefined) {
      this.#typed(this.#typing, input);
      return false;
    }
    if (input.kind === 'paste') return false;
    return input.kind === 'text' ? this.#letters(input.text) : this.#key(input);
  }

  #typed(typing: LineInput, input: Input): void {
    const outcome = typing.take(input);
    if (outcome === 'edited') return;
    this.#typing = undefined;
    if (outcome === 'left') return;
    this.#search = new TextSearch(typing.text);
    this.#find(1, this.#top - 1);
  }

  #letters(text: string): boolean {
    for (const letter of text) if (this.#letter(letter)) return true;
    return false;
  }

  #letter(letter: string): boolean {
    if (letter === 'q') return true;
    if (letter === 'j') this.#move(1);
    if (letter === 'k') this.#move(-1);
    if (letter === ' ') this.#move(this.#room);
    if (letter === 'g') this.#top = 0;
    if (letter === 'G') this.#move(Number.POSITIVE_INFINITY);
    if (letter === '/') this.#typing = new LineInput('/');
    if (letter === 'n') this.#find(1, this.#top);
    if (letter === 'N') this.#find(-1, this.#top);
    if (letter === 'w') this.#wrap();
    if (letter === 'y') {
      this.#acts.copy(this.#text.whole);
      this.#notice = 'copied';
    }
    if (letter === 'p') {
      this.#acts.print(this.#shown.title, this.#text.whole);
      this.#notice = 'printed: it is in the scrollback';
    }
    return false;
  }

  #key({ key, ctrl }: Extract<Input, { kind: 'key' }>): boolean {
    if (key === 'escape' || (ctrl === true && (key === 'c' || key === 'x'))) return true;
    if (key === 'up') this.#move(-1);
    if (key === 'down' || key === 'enter') this.#move(1);
    if (key === 'pageUp') this.#move(-this.#room);
    if (key === 'pageDown') this.#move(this.#room);
    if (ctrl === true && key === 'd') this.#move(Math.ceil(this.#room / 2));
    if (key === 'home') this.#top = 0;
    if (key === 'end') this.#move(Number.POSITIVE_INFINITY);
    if (ctrl === true && key === 'o') this.#next();
    return false;
  }

  #next(): void {
    if (this.#pages.length === 1) {
      this.#notice = 'there is no other';
      return;
    }
    this.#page = (this.#page + 1) % this.#pages.length;
    this.#open();
  }

  #wrap(): void {
    const line = this.#text.rowAt(this.#top, this.#space, this.#wraps).line;
    this.#wraps = !this.#wraps;
    this.#top = this.#text.rowOfLine(line, this.#space, this.#wraps);
  }

  #move(by: number): void {
    const count = this.#text.rowCount(this.#space, this.#wraps);
    this.#top = Math.max(0, Math.min(this.#top + by, count - this.#room));
  }

  /** Goes to the next line with what is searched, past a row. */
  #find(by: 1 | -1, from: number): void {
    if (this.#search.typed === '') return;
    const at = from < 0 ? -1 : this.#text.rowAt(from, this.#space, this.#wraps).line;
    const line = this.#text.find(this.#search, at, by);
    if (line === undefined) this.#notice = `"${this.#search.typed}" is not in it`;
    else {
      this.#top = this.#text.rowOfLine(line, this.#space, this.#wraps);
      this.#move(0);
    }
  }

  lines(screen: Screen): readonly Line[] {
    const height = Math.max(3, screen.rows - 1);
    const top = this.#text.rowAt(this.#top, this.#space, this.#wraps).line;
    const isResized = this.#space.columns !== screen.columns;
    this.#space = screen;
    this.#room = height - 2;
    if (isResized && this.#wraps) this.#top = this.#text.rowOfLine(top, screen, true);
    this.#move(0);
    const rows = this.#text
      .rows(this.#top, this.#room, screen, this.#wraps)
      .map((row) => this.#search.marked(row));
    const last = this.#typing?.line(screen) ?? this.#lastLine(screen);
    return [this.#titleLine(screen), ...filled(rows, this.#room), last];
  }

  #titleLine(screen: Screen): Line {
    const { line: first } = this.#text.rowAt(this.#top, screen, this.#wraps);
    const { line: last } = this.#text.rowAt(this.#top + this.#room - 1, screen, this.#wraps);
    const dash = sign('dash', screen.ascii);
    const where = `lines ${first + 1}${dash}${last + 1}/${this.#text.lineCount}`;
    return spread(lineSpans(this.#shown.title, { bold: true }), { facts: [where] }, screen);
  }

  #lastLine(screen: Screen): Line {
    if (this.#notice === '') return keysLine(keys, screen);
    const width = Math.max(1, screen.columns - 1);
    return cutLine([{ text: ' ' }, ...lineSpans(this.#notice)], width);
  }
}
