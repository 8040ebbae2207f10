import type { FullView } from '../app/control.ts';
import type { Input } from '../editor/keys.ts';
import { keysLine } from '../full-screen/keys-line.ts';
import { LineInput } from '../full-screen/line-input.ts';
import { TextSearch } from '../full-screen/text-search.ts';
import type { LogBook } from '../log/log-book.ts';
import { fitted, lineSpans, spread } from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine } from '../text/wrap.ts';
import { ContentMode } from './content-mode.ts';
import { EventsMode } from './events-mode.ts';
import { LogMode } from './log-mode.ts';
import type { TraceIndex } from './trace-index.ts';
import type { TraceMode, TraceMove } from './trace-mode.ts';

/** The modes by their keys. */
const modeNames = { d: 'debug', c: 'content', l: 'log' } as const;
export type TraceModeKey = keyof typeof modeNames;

/** Acts that the trace leaves to others. */
export interface TraceActs {
  /** Opens the whole of an event. */
  open(place: number): void;
  /** Opens the prompt of the model call at a place, or of the last one before it. */
  prompt(place: number): void;
  /** Opens the state after an event. */
  state(place: number): void;
  /** Makes a fork that ends with an event, and opens it. */
  fork(place: number): void;
  copy(place: number): void;
}

export interface TraceViewParts {
  readonly index: TraceIndex;
  readonly log: LogBook;
  readonly acts: TraceActs;
  readonly now: () => number;
  /** Facts of the header: the agent and the ending of the session. */
  readonly facts: readonly string[];
  /** True while events may come. */
  readonly isLive: () => boolean;
  /** Takes the events that came since into the index. */
  readonly grow: () => void;
  readonly mode?: TraceModeKey;
  /** Number of the event that is marked first. @default the last one */
  readonly seq?: number;
  /** True to begin a page above the end. @default false */
  readonly isPageUp?: boolean;
}

/** Keys that are left out first where the terminal is narrow. */
const leastKeys = ['↑↓ event', 'y copy', '{ } run', '[ ] round'];

const moves: Readonly<Record<string, TraceMove>> = {
  ...{ up: 'up', down: 'down', pageUp: 'pageUp', pageDown: 'pageDown' },
  ...{ home: 'first', end: 'last', k: 'up', j: 'down', g: 'first', G: 'last' },
};

/** The events of a session in three modes: all of them, what was said, and what was logged. */
export class TraceView implements FullView {
  readonly #parts: TraceViewParts;
  readonly #modes: Readonly<Record<TraceModeKey, TraceMode>>;
  #key: TraceModeKey;
  #search = new TextSearch('');
  #typing: LineInput | undefined;
  #notice = '';
  /** True until a first page was laid out, from whose end the view goes up. */
  #isPageUp: boolean;

  constructor(parts: TraceViewParts) {
    const { index, log, now, mode = 'd', seq, isPageUp = false } = parts;
    this.#parts = parts;
    this.#isPageUp = isPageUp;
    this.#modes = {
      d: new EventsMode(index, now),
      c: new ContentMode(index),
      l: new LogMode(log, index),
    };
    this.#key = mode;
    if (seq !== undefined && index.length > 0) this.#mode.goTo(index.placeOf(seq));
  }

  get #mode(): TraceMode {
    return this.#modes[this.#key];
  }

  take(input: Input): boolean {
    this.#notice = '';
    this.#parts.grow();
    this.#mode.grow();
    if (this.#typing !== undefined) {
      this.#typed(this.#typing, input);
      return false;
    }
    if (input.kind === 'paste') return false;
    return input.kind === 'text' ? this.#letters(input.text) : this.#special(input);
  }

  #typed(typing: LineInput, input: Input): void {
    const outcome = typing.take(input);
    if (outcome === 'edited') return;
    this.#typing = undefined;
    if (outcome === 'left') return;
    if (typing.label === '/') {
      this.#search = new TextSearch(typing.text);
      this.#find(1);
    } else this.#mode.filter(typing.text.split(/\s+/).filter((word) => word !== ''));
  }

  #find(by: 1 | -1): void {
    if (this.#search.typed !== '' && !this.#mode.find(this.#search, by))
      this.#notice = `"${this.#search.typed}" is nowhere in this mode`;
  }

  #letters(text: string): boolean {
    for (const letter of text) if (this.#letter(letter)) return true;
    return false;
  }

  #letter(letter: string): boolean {
    if (letter === 'q') return true;
    if (letter === 'd' || letter === 'c' || letter === 'l') this.#turn(letter);
    else if (letter === '/') this.#typing = new LineInput('/');
    else if (letter === 'f') this.#typing = new LineInput('filter: ');
    else if (letter === 'n' || letter === 'N') this.#find(letter === 'n' ? 1 : -1);
    else if (!this.#act(letter) && !this.#mode.key(letter)) {
      const move = moves[letter];
      if (move !== undefined) this.#mode.move(move);
    }
    return false;
  }

  #act(letter: string): boolean {
    const { acts } = this.#parts;
    const act = { p: acts.prompt, s: acts.state, F: acts.fork, y: acts.copy }[letter];
    const { place } = this.#mode;
    if (act === undefined) return false;
    if (place === undefined) this.#notice = 'there is no event yet';
    else act.call(acts, place);
    if (letter === 'y' && place !== undefined) this.#notice = 'copied';
    return true;
  }

  /** Goes to another mode, at the same event. */
  #turn(to: TraceModeKey): void {
    const { place } = this.#mode;
    if (to === this.#key) return;
    this.#key = to;
    this.#mode.grow();
    if (place !== undefined) this.#mode.goTo(place);
  }

  #special({ key, ctrl, shift }: Extract<Input, { kind: 'key' }>): boolean {
    if (key === 'escape' || (ctrl === true && (key === 'c' || key === 'x'))) return true;
    if (ctrl === true && key === 'd') this.#mode.move('halfDown');
    if (ctrl === true) return false;
    const { place } = this.#mode;
    const move = moves[key];
    if (key === 'enter' && place !== undefined) this.#parts.acts.open(place);
    else if (move !== undefined) this.#mode.move(move);
    else this.#mode.key(key === 'tab' && shift === true ? 'backTab' : key);
    return false;
  }

  lines(screen: Screen): readonly Line[] {
    this.#parts.grow();
    this.#mode.grow();
    const height = Math.max(4, screen.rows - 1);
    if (this.#isPageUp) {
      this.#mode.lines(screen, height - 2, this.#search);
      this.#mode.move('pageUp');
      this.#isPageUp = false;
    }
    const body = fitted(this.#mode.lines(screen, height - 2, this.#search), screen);
    const last = this.#typing?.line(screen) ?? this.#lastLine(screen);
    return [this.#header(screen), ...body, last];
  }

  #header(screen: Screen): Line {
    const { facts, isLive } = this.#parts;
    const live = isLive() ? ['live'] : [];
    const text = [...facts, this.#mode.count, ...live].join(' · ');
    const names = Object.entries(modeNames).map(([key, name]) =>
      key === this.#key ? `[${key}] ${name}` : `${key} ${name}`,
    );
    const modes = names.join('   ');
    const left: Line = [{ text: 'trace  ', bold: true }, ...lineSpans(text)];
    const fact = this.#mode.fact;
    const width = displayWidth(textOfLine(left)) + displayWidth(modes) + 6;
    const isNarrow = width + displayWidth(fact) > screen.columns;
    const shown = this.#isDefaultFact(fact) && isNarrow ? modes : `${modes}   ${fact}`;
    return spread(left, { facts: [visibleFact(shown)] }, screen);
  }

  #isDefaultFact(fact: string): boolean {
    return fact === 'filter: none' || fact === 'level: info+';
  }

  #lastLine(screen: Screen): Line {
    const width = Math.max(1, screen.columns - 1);
    if (this.#notice !== '') return cutLine([{ text: ' ' }, ...lineSpans(this.#notice)], width);
    const acts = ['p prompt', 's state', 'F fork', 'y copy'];
    return keysLine([...this.#mode.keys, ...acts, 'q back'], screen, leastKeys);
  }
}

function visibleFact(text: string): string {
  return textOfLine(lineSpans(text));
}
