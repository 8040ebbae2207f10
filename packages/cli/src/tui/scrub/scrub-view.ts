import type { StateSnapshot } from 'adjutant/views';
import { describeFailure } from '../../failure.ts';
import { formatMoment } from '../../output/format.ts';
import type { FullView } from '../app/control.ts';
import type { Input } from '../editor/keys.ts';
import { isKnown } from '../feed/known-events.ts';
import { filled, keysLine } from '../full-screen/keys-line.ts';
import type { ViewActs } from '../full-screen/stacked-view.ts';
import {
  accent,
  contentWidth,
  fitted,
  gutterSign,
  lineSpans,
  type Space,
  toned,
} from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import type { AgentOutline } from '../session/workplace.ts';
import { sign } from '../text/signs.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine, wrapLine } from '../text/wrap.ts';
import { eventRow } from '../trace/event-row.ts';
import type { TraceIndex } from '../trace/trace-index.ts';
import { nextPlace } from '../trace/trace-rows.ts';
import { type ScrubFacts, scrubFacts, stateScopes } from './scrub-facts.ts';

export interface ScrubViewParts {
  readonly index: TraceIndex;
  readonly agents: readonly AgentOutline[];
  readonly now: () => number;
  /** Reads the state after an event. */
  readonly stateAt: (seq: number) => Promise<StateSnapshot>;
  /** Takes the events that came since into the index. */
  readonly grow: () => void;
  readonly acts: ViewActs;
  /** Makes a fork that ends with an event, and opens it. */
  readonly fork: (seq: number) => void;
  /** Makes a fork that ends before a message, and opens it with the text of the message. */
  readonly change: (seq: number, text: string) => void;
  /** Shows only this key of the state. */
  readonly key?: string;
}

const widestSlider = 58;
/** Columns beyond which the state is not read well, where facts stand beside it. */
const widestState = 110;
/** Columns of the names of scopes and facts, and those from which on facts stand at the right. */
const nameWidth = 10;
const besideFrom = 78;

/** The session as it was at any event: its state, its requests, its budget and its effects. */
export class ScrubView implements FullView {
  readonly #parts: ScrubViewParts;
  #place: number;
  /** State that was read last, and the place that it is of. */
  #state: StateSnapshot | undefined;
  #stateOf = -1;
  #reading = -1;
  #failure = '';
  #facts: ScrubFacts | undefined;
  #factsOf = -1;

  constructor(parts: ScrubViewParts, place: number) {
    this.#parts = parts;
    this.#place = Math.max(0, Math.min(place, parts.index.length - 1));
    this.#read();
  }

  /** Reads the state at the place, one at a time. */
  #read(): void {
    const { index, stateAt, acts } = this.#parts;
    if (index.length === 0 || this.#reading !== -1 || this.#stateOf === this.#place) return;
    const place = this.#place;
    this.#reading = place;
    void stateAt(index.event(place).seq)
      .then(
        (state) => {
          this.#state = state;
          this.#failure = '';
        },
        (error: unknown) => {
          this.#failure = describeFailure(error);
        },
      )
      .then(() => {
        this.#stateOf = place;
        this.#reading = -1;
        this.#read();
        acts.changed();
      });
  }

  take(input: Input): boolean {
    this.#parts.grow();
    if (input.kind === 'paste') return false;
    if (input.kind === 'text') {
      for (const letter of input.text) if (this.#letter(letter)) return true;
      return false;
    }
    const { key, ctrl } = input;
    if (key === 'escape' || (ctrl === true && key === 'x')) return true;
    if (key === 'left' || key === 'up') this.#go(this.#place - 1);
    if (key === 'right' || key === 'down') this.#go(this.#place + 1);
    if (key === 'pageUp') this.#go(this.#place - 10);
    if (key === 'pageDown') this.#go(this.#place + 10);
    if (key === 'home') this.#go(0);
    if (key === 'end') this.#go(Number.POSITIVE_INFINITY);
    return false;
  }

  #letter(letter: string): boolean {
    const { index, fork, change } = this.#parts;
    if (letter === 'q') return true;
    if (letter === '[' || letter === ']') this.#round(letter === ']' ? 1 : -1);
    if (letter === 'g') this.#go(0);
    if (letter === 'G') this.#go(Number.POSITIVE_INFINITY);
    if (letter === 'F' && index.length > 0) fork(index.event(this.#place).seq);
    const message = this.#factsNow?.message;
    if (letter === 'm' && message !== undefined) change(message.seq, message.text);
    return false;
  }

  #go(place: number): void {
    const last = this.#parts.index.length - 1;
    this.#place = Math.max(0, Math.min(place, last));
    this.#read();
  }

  #round(by: 1 | -1): void {
    const { index } = this.#parts;
    const found = nextPlace(index.length, this.#place, by, (place) => {
      const event = index.event(place);
      return isKnown(event) && event.type === 'model_start';
    });
    if (found !== undefined) this.#go(found);
  }

  get #factsNow(): ScrubFacts | undefined {
    const { index, agents } = this.#parts;
    if (index.length === 0) return undefined;
    if (this.#factsOf !== this.#place) {
      this.#facts = scrubFacts(index, this.#place, agents);
      this.#factsOf = this.#place;
    }
    return this.#facts;
  }

  lines(screen: Screen): readonly Line[] {
    this.#parts.grow();
    const height = Math.max(3, screen.rows - 1);
    const { index } = this.#parts;
    if (index.length === 0) {
      const none: Line = cutLine([{ text: '  no events', dim: true }], screen.columns - 1);
      return [...filled([none], height - 1), keysLine(['q back'], screen)];
    }
    const row = eventRow(index, this.#place, noFold, screen);
    const body = [this.#slider(screen), row, [], ...this.#body(screen), [], ...this.#foot(screen)];
    const shown = fitted(filled(body, height - 1), screen);
    const { message } = this.#factsNow ?? {};
    const change = message === undefined ? [] : [`m fork and change my message #${message.seq}`];
    const keys = ['←→ event', '[ ] round', 'Home End', 'F fork and open', ...change, 'q back'];
    return [...shown, keysLine(keys, screen, ['Home End', '[ ] round'])];
  }

  #slider(screen: Screen): Line {
    const { index, now } = this.#parts;
    const event = index.event(this.#place);
    const last = index.length - 1;
    const isLive = this.#place === last;
    const left = `scrub  #${event.seq} of ${index.event(last).seq}   `;
    const when = isKnown(event) ? `   ${formatMoment(event.at, now())}` : '';
    const right = `${when}${isLive ? '   live' : '   End: live'}`;
    const room = screen.columns - 1 - left.length - right.length;
    const width = Math.max(0, Math.min(widestSlider, room));
    const bar = width < 8 ? '' : sliderText(width, last === 0 ? 1 : this.#place / last, screen);
    return [
      { text: left.slice(0, 5), bold: true },
      { text: left.slice(5) },
      { text: bar, color: accent },
      { text: right, dim: true },
    ];
  }

  /** The state, and beside it or below it what waits and what is used. */
  #body(screen: Screen): Line[] {
    const facts = this.#factLines();
    const factsWidth = Math.max(...facts.map((line) => displayWidth(textOfLine(line))));
    const isBeside = screen.columns >= besideFrom && factsWidth < screen.columns / 2;
    const width = isBeside
      ? Math.min(widestState, screen.columns - factsWidth - 4)
      : contentWidth(screen);
    const state = this.#stateLines({ ...screen, columns: width });
    if (!isBeside) return [...state, ...facts];
    const count = Math.max(state.length, facts.length);
    return Array.from({ length: count }, (_, at): Line => {
      const left = state[at] ?? [];
      const blanks = Math.max(1, width + 2 - displayWidth(textOfLine(left)));
      return [...left, { text: ' '.repeat(blanks) }, ...(facts[at] ?? [])];
    });
  }

  #factLines(): Line[] {
    const { waits = [], budget = '' } = this.#factsNow ?? {};
    const asked = waits.length === 0 ? ['nothing'] : waits;
    return [
      ...asked.map((text, at): Line => [named(at === 0 ? 'waits' : ''), ...lineSpans(text)]),
      [named('budget'), ...lineSpans(budget)],
    ];
  }

  #stateLines(space: Space): Line[] {
    if (this.#failure !== '')
      return [[gutterSign('failed', toned('failure'), space), ...lineSpans(this.#failure)]];
    if (this.#state === undefined) return [[{ text: '  reading the state', dim: true }]];
    // While another state is read, the one before stays, and is dim.
    const look = this.#stateOf === this.#place ? {} : { dim: true };
    const scopes = stateScopes(this.#state, this.#parts.index, Math.max(0, this.#stateOf));
    const { key } = this.#parts;
    const lines = scopes.flatMap(({ name, entries }): Line[] => {
      const shown = entries.filter((entry) => key === undefined || entry.key === key);
      if (shown.length === 0 && key !== undefined) return [];
      const text = shown.map((entry) => `${entry.key} ${entry.text}`).join(' · ');
      const spans = text === '' ? [{ text: 'empty', dim: true }] : lineSpans(text, look);
      const wrapped = wrapLine(spans, Math.max(8, space.columns - nameWidth - 2));
      return wrapped.map((line, at) => [named(at === 0 ? name : ''), ...line]);
    });
    return lines.length > 0 ? lines : [[{ text: `  ${key ?? ''} is not set`, dim: true }]];
  }

  #foot(screen: Screen): Line[] {
    const { effects = '' } = this.#factsNow ?? {};
    const { seq } = this.#parts.index.event(this.#place);
    const done =
      effects === ''
        ? 'Nothing was done in the world up to here.'
        : `Done in the world and not undone: ${effects} (the fork knows their results).`;
    const scopes = Object.keys(this.#state ?? {}).filter((name) => name.endsWith('State'));
    const shared =
      scopes.length > 1
        ? ` Shared state: read as of #${seq}; the fork keeps its writes to itself.`
        : '';
    const dash = sign('dash', screen.ascii);
    const text = `Fork from here: a new session with events 1${dash}${seq}. ${done}${shared}`;
    return wrapLine(lineSpans(text), contentWidth(screen)).map((line) => [{ text: '  ' }, ...line]);
  }
}

const noFold = { isMarked: true, openness: undefined, range: undefined } as const;

function named(name: string): Line[number] {
  const shown = textOfLine(lineSpans(name));
  return {
    text: `  ${shown}${' '.repeat(Math.max(1, nameWidth - displayWidth(shown)))}`,
    dim: true,
  };
}

/** A line with a knob at a share of its width. */
function sliderText(width: number, share: number, { ascii }: Space): string {
  const [begin, line, knob, end] = ascii ? ['|', '-', 'o', '|'] : ['├', '─', '●', '┤'];
  const room = width - 3;
  const before = Math.round(room * Math.max(0, Math.min(1, share)));
  return `${begin}${line?.repeat(before)}${knob}${line?.repeat(room - before)}${end}`;
}
