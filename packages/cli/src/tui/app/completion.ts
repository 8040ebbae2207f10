import type { Editor } from '../editor/editor.ts';
import type { Input } from '../editor/keys.ts';
import type { Popup } from '../screens/live-view.ts';
import type { Line } from '../text/spans.ts';
import type { Composer } from './composer.ts';
import type { SlashCommand } from './control.ts';

/** Commands that the text may become: it begins with a typed `/`, and has no blank yet. */
function completionsFor(
  { atoms, cursor }: Editor,
  commands: readonly SlashCommand[],
): readonly SlashCommand[] {
  if (atoms[0] !== '/' || cursor !== atoms.length || atoms.some((atom) => typeof atom !== 'string'))
    return [];
  const text = atoms.join('').slice(1);
  if (!/^[a-z]*$/.test(text)) return [];
  return commands.filter(({ name }) => name.startsWith(text));
}

/** The list of commands that the typed text may become. */
export class CompletionFocus {
  readonly #composer: Composer;
  readonly #commands: readonly SlashCommand[];
  #marked = 0;
  #isClosed = false;

  constructor(composer: Composer, commands: readonly SlashCommand[]) {
    this.#composer = composer;
    this.#commands = commands;
  }

  get #found(): readonly SlashCommand[] {
    return this.#isClosed ? [] : completionsFor(this.#composer.editor, this.#commands);
  }

  /**
   * Begins anew, because an input has changed the text. A command that came from the history opens
   * no list: the arrows go on through the history.
   */
  changedBy(input: Input): void {
    this.#marked = 0;
    this.#isClosed = input.kind === 'key' && (input.key === 'up' || input.key === 'down');
  }

  /** Takes a key of the list. Returns true when the key was one. */
  take({ key, shift }: Extract<Input, { kind: 'key' }>): boolean {
    const found = this.#found;
    const marked = found[this.#marked];
    if (marked === undefined) return false;
    if (key === 'up' || key === 'down') {
      const next = this.#marked + (key === 'up' ? -1 : 1);
      this.#marked = Math.max(0, Math.min(next, found.length - 1));
      return true;
    }
    if (key === 'escape') {
      this.#isClosed = true;
      return true;
    }
    const isWhole = this.#composer.text === `/${marked.name}`;
    if (key !== 'tab' && (key !== 'enter' || isWhole || shift === true)) return false;
    this.#composer.set(`/${marked.name}${marked.words === '' ? '' : ' '}`);
    return true;
  }

  get popup(): Popup | undefined {
    const found = this.#found;
    if (found.length === 0) return undefined;
    const widest = Math.max(...found.map(({ name, words }) => name.length + words.length + 2));
    return {
      rows: found.map(
        ({ name, words, summary }): Line => [
          { text: `/${name} ${words}`.padEnd(widest + 2) },
          { text: summary, dim: true },
        ],
      ),
      marked: this.#marked,
    };
  }
}
