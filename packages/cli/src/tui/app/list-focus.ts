import type { Input } from '../editor/keys.ts';
import { gutter as gutterWidth, lineSpans, type Space, spread } from '../screens/layout.ts';
import type { Popup } from '../screens/live-view.ts';
import type { Line } from '../text/spans.ts';
import type { Choice, ListOfChoices, ListOptions } from './control.ts';

const usualKeys = '↑↓ choose · Enter take · Esc close';
/** Rows that a page key moves by. */
const pageRows = 5;

/** A list to choose from. What is typed filters it. */
export class ListFocus implements ListOfChoices {
  readonly #title: string;
  readonly #choices: readonly Choice[];
  readonly #options: ListOptions;
  #filter = '';
  #marked = 0;

  constructor(title: string, choices: readonly Choice[], options: ListOptions = {}) {
    this.#title = title;
    this.#choices = choices;
    this.#options = options;
  }

  /** Choices that fit the filter, those with its characters beside one another first. */
  get #found(): readonly Choice[] {
    const wanted = this.#filter.toLowerCase();
    const found = this.#choices.filter(({ text }) => isWithin(wanted, text.toLowerCase()));
    const isWhole = ({ text }: Choice): boolean => text.toLowerCase().includes(wanted);
    return [...found.filter(isWhole), ...found.filter((choice) => !isWhole(choice))];
  }

  popup(space: Space): Popup {
    const found = this.#found;
    const { fact, keys = usualKeys } = this.#options;
    const filter: Line =
      this.#filter === '' ? [] : [{ text: '  ' }, ...lineSpans(this.#filter, { bold: true })];
    const count =
      found.length === this.#choices.length ? '' : `${found.length} of ${this.#choices.length}`;
    const facts = [count, fact ?? ''].filter((text) => text !== '');
    const room = { ...space, columns: space.columns - gutterWidth };
    return {
      title: spread([{ text: this.#title, dim: true }, ...filter], { facts }, room),
      rows: found.map(({ line }) => (typeof line === 'function' ? line(room) : line)),
      marked: this.#marked,
      keys: found.length === 0 ? `nothing found · ${keys}` : keys,
    };
  }

  take(input: Input): Pick<Choice, 'take'> | 'close' | undefined {
    if (input.kind !== 'key') {
      this.#filter += input.text.replaceAll('\n', ' ');
      this.#marked = 0;
      return undefined;
    }
    const { key, ctrl = false } = input;
    const { other, onClose } = this.#options;
    const chosen = this.#found[this.#marked];
    const close = onClose === undefined ? 'close' : { take: onClose };
    if (key === 'escape' || (ctrl && key === 'c')) return close;
    if (key === 'tab' && other !== undefined) return { take: other };
    if (key === 'enter' || key === 'tab') return chosen ?? this.#typed() ?? close;
    if (key === 'right' && chosen?.more !== undefined) return { take: chosen.more };
    if (key === 'up' || (ctrl && key === 'p')) this.#mark(-1);
    if (key === 'down' || (ctrl && key === 'n')) this.#mark(1);
    if (key === 'pageUp') this.#mark(-pageRows);
    if (key === 'pageDown') this.#mark(pageRows);
    if (key === 'backspace') this.#filter = [...this.#filter].slice(0, -1).join('');
    if (ctrl && key === 'u') this.#filter = '';
    return undefined;
  }

  #typed(): Pick<Choice, 'take'> | undefined {
    const { typed } = this.#options;
    const text = this.#filter.trim();
    return typed === undefined || text === '' ? undefined : { take: () => typed(text) };
  }

  #mark(by: number): void {
    this.#marked = Math.max(0, Math.min(this.#marked + by, this.#found.length - 1));
  }
}

/** True when a text has the characters in their order, not all of them beside one another. */
function isWithin(wanted: string, text: string): boolean {
  let at = 0;
  for (const character of wanted) {
    at = text.indexOf(character, at);
    if (at === -1) return false;
    at++;
  }
  return true;
}
