import type { Input } from '../editor/keys.ts';
import type { Popup } from '../screens/live-view.ts';
import type { Line } from '../text/spans.ts';
import type { Choice, ListOfChoices } from './control.ts';

const usualKeys = '↑↓ choose · Enter take · Esc close';

/** A list to choose from. What is typed filters it. */
export class ListFocus implements ListOfChoices {
  readonly #title: string;
  readonly #choices: readonly Choice[];
  readonly #keys: string;
  #filter = '';
  #marked = 0;

  constructor(title: string, choices: readonly Choice[], keys = usualKeys) {
    this.#title = title;
    this.#choices = choices;
    this.#keys = keys;
  }

  get #found(): readonly Choice[] {
    const wanted = this.#filter.toLowerCase();
    return this.#choices.filter(({ text }) => isWithin(wanted, text.toLowerCase()));
  }

  get popup(): Popup {
    const found = this.#found;
    const filter: Line = this.#filter === '' ? [] : [{ text: `  ${this.#filter}`, bold: true }];
    const count =
      found.length === this.#choices.length ? '' : `  ${found.length} of ${this.#choices.length}`;
    return {
      title: [{ text: this.#title, dim: true }, ...filter, { text: count, dim: true }],
      rows: found.map(({ line }) => line),
      marked: this.#marked,
      keys: this.#keys,
    };
  }

  take(input: Input): Choice | 'close' | undefined {
    if (input.kind !== 'key') {
      this.#filter += input.text;
      this.#marked = 0;
      return undefined;
    }
    const { key, ctrl = false } = input;
    if (key === 'escape' || (ctrl && key === 'c')) return 'close';
    if (key === 'enter' || key === 'tab') return this.#found[this.#marked] ?? 'close';
    if (key === 'up' || (ctrl && key === 'p')) this.#mark(-1);
    if (key === 'down' || (ctrl && key === 'n')) this.#mark(1);
    if (key === 'backspace') this.#filter = this.#filter.slice(0, -1);
    if (ctrl && key === 'u') this.#filter = '';
    return undefined;
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
