import type { Input } from '../editor/keys.ts';
import { type Found, searchHistory } from '../history/search.ts';
import { lineSpans } from '../screens/layout.ts';
import type { Popup } from '../screens/live-view.ts';
import type { Choice, ListOfChoices } from './control.ts';

/** Texts that a search shows at most. */
const mostFound = 50;
const keys = '^R older · Enter takes it, unsent · Esc keeps the text';

/** A search through the texts that were sent, from the newest one back. */
export class HistorySearch implements ListOfChoices {
  readonly #entries: readonly string[];
  readonly #take: (text: string) => void;
  #words = '';
  #found: readonly string[];
  #marked = 0;

  constructor(entries: readonly string[], take: (text: string) => void) {
    this.#entries = entries;
    this.#take = take;
    this.#found = matches(entries, '');
  }

  popup(): Popup {
    return {
      title: [{ text: 'history  ', dim: true }, ...lineSpans(this.#words, { bold: true })],
      rows: this.#found.map((text) => lineSpans(text)),
      marked: this.#marked,
      keys: this.#found.length === 0 ? 'nothing found · Esc keeps the text' : keys,
    };
  }

  take(input: Input): Choice | 'close' | undefined {
    if (input.kind !== 'key') {
      this.#search(this.#words + input.text);
      return undefined;
    }
    const { key, ctrl = false } = input;
    if (key === 'escape' || (ctrl && key === 'c')) return 'close';
    if (key === 'enter' || key === 'tab') return this.#chosen();
    if (key === 'down' || (ctrl && (key === 'r' || key === 'n'))) this.#mark(1);
    if (key === 'up' || (ctrl && key === 'p')) this.#mark(-1);
    if (key === 'backspace') this.#search([...this.#words].slice(0, -1).join(''));
    if (ctrl && key === 'u') this.#search('');
    return undefined;
  }

  #chosen(): Choice | 'close' {
    const text = this.#found[this.#marked];
    if (text === undefined) return 'close';
    return { text, line: lineSpans(text), take: () => this.#take(text) };
  }

  #search(words: string): void {
    this.#words = words;
    this.#found = matches(this.#entries, words);
    this.#marked = 0;
  }

  #mark(by: number): void {
    this.#marked = Math.max(0, Math.min(this.#marked + by, this.#found.length - 1));
  }
}

/** Returns the texts with the words, newest first, each of them once. */
function matches(entries: readonly string[], words: string): readonly string[] {
  const found = new Set<string>();
  if (words === '') for (const text of entries.slice(-mostFound).reverse()) found.add(text);
  let last: Found | undefined = searchHistory(entries, words);
  while (last !== undefined && found.size < mostFound) {
    found.add(last.text);
    last = searchHistory(entries, words, last);
  }
  return [...found];
}
