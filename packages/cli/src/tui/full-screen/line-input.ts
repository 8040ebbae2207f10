import type { Input } from '../editor/keys.ts';
import { lineSpans, type Space } from '../screens/layout.ts';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { cutLine } from '../text/wrap.ts';

/** A text that is typed below a view: what to search for, or what to show. */
export class LineInput {
  readonly label: string;
  #text: string;

  constructor(label: string, text = '') {
    this.label = label;
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /** Takes a key. Returns what became of the text by it. */
  take(input: Input): 'edited' | 'taken' | 'left' {
    if (input.kind !== 'key') {
      this.#text += input.text.replaceAll('\n', ' ');
      return 'edited';
    }
    const { key, ctrl = false } = input;
    if (key === 'enter') return 'taken';
    if (key === 'escape' || (ctrl && key === 'c')) return 'left';
    if (key === 'backspace') this.#text = [...this.#text].slice(0, -1).join('');
    if (ctrl && key === 'u') this.#text = '';
    return 'edited';
  }

  /** The line on which the text is typed. */
  line({ columns, ascii }: Space): Line {
    const typed: Line = [
      { text: ' ' },
      ...lineSpans(`${this.label}${this.#text}`),
      { text: sign('cursor', ascii) },
    ];
    return cutLine(typed, Math.max(1, columns - 1), sign('ellipsis', ascii));
  }
}
