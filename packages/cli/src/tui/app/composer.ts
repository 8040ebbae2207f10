import { editByKey } from '../editor/edit-keys.ts';
import {
  breakAfterBackslash,
  type Editor,
  editorText,
  emptyEditor,
  insertBreak,
  insertPaste,
  insertText,
  pasteProblem,
  withText,
} from '../editor/editor.ts';
import { kill } from '../editor/edits.ts';
import type { Input } from '../editor/keys.ts';
import { moveRow } from '../editor/rows.ts';

/** Outcome of a key in the composer. */
export type ComposerOutcome =
  | { readonly kind: 'edited' }
  | { readonly kind: 'send' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The key means nothing in a text. */
  | { readonly kind: 'unused' };

const edited: ComposerOutcome = { kind: 'edited' };
const unused: ComposerOutcome = { kind: 'unused' };

/** The text that a person writes, and the messages before it. */
export class Composer {
  editor: Editor = emptyEditor;
  /** Former messages, oldest first. */
  readonly #history: string[] = [];
  /** Place in the history. `undefined`: the text is a new one. */
  #place: number | undefined;
  #draft = '';
  /** Text that was cleared last, until something else is written. */
  #cleared: Editor | undefined;

  get text(): string {
    return editorText(this.editor);
  }

  get isEmpty(): boolean {
    return this.editor.atoms.length === 0;
  }

  get isAtLineEnd(): boolean {
    const { atoms, cursor } = this.editor;
    return cursor === atoms.length || atoms[cursor] === '\n';
  }

  /** Takes former messages into the history. */
  remember(...messages: readonly string[]): void {
    for (const message of messages)
      if (message.trim() !== '' && this.#history.at(-1) !== message) this.#history.push(message);
    this.#place = undefined;
  }

  /** Former messages, oldest first. */
  get former(): readonly string[] {
    return this.#history;
  }

  set(text: string): void {
    this.editor = withText(this.editor, text);
  }

  /** Empties the composer; a yank brings the text back. */
  clear(): void {
    this.#cleared = this.editor;
    this.editor = kill(this.editor, 'all');
    this.#place = undefined;
  }

  /** Takes back that it was cleared, if nothing was written since. */
  restore(): void {
    if (this.isEmpty && this.#cleared !== undefined) this.editor = this.#cleared;
  }

  /** Empties the composer because its text was sent. */
  sent(): void {
    this.editor = { ...emptyEditor, killed: this.editor.killed };
    this.#place = undefined;
  }

  take(input: Input, width: number): ComposerOutcome {
    if (input.kind === 'text') return this.#change(insertText(this.editor, input.text));
    if (input.kind === 'paste') return this.#paste(input.text);
    if (input.key === 'enter') return this.#enter(input.alt === true || input.shift === true);
    if (input.key === 'up') return this.#vertical(-1, width);
    if (input.key === 'down') return this.#vertical(1, width);
    return this.#key(input);
  }

  #change(editor: Editor): ComposerOutcome {
    this.#cleared = undefined;
    this.editor = editor;
    return edited;
  }

  #paste(text: string): ComposerOutcome {
    const reason = pasteProblem(text);
    return reason === undefined
      ? this.#change(insertPaste(this.editor, text))
      : { kind: 'refused', reason };
  }

  #enter(isBreak: boolean): ComposerOutcome {
    if (isBreak) return this.#change(insertBreak(this.editor));
    const broken = breakAfterBackslash(this.editor);
    return broken === undefined ? { kind: 'send' } : this.#change(broken);
  }

  #vertical(by: 1 | -1, width: number): ComposerOutcome {
    const moved = moveRow(this.editor, by, width);
    return moved === undefined ? this.#former(by) : this.#change(moved);
  }

  /** Goes through the history at the first and the last line of the text. */
  #former(by: 1 | -1): ComposerOutcome {
    if (this.#place === undefined) {
      if (by === 1 || this.#history.length === 0) return unused;
      this.#draft = this.text;
      this.#place = this.#history.length;
    }
    const place = this.#place + by;
    if (place < 0) return unused;
    this.#place = place >= this.#history.length ? undefined : place;
    this.set(this.#place === undefined ? this.#draft : (this.#history[place] ?? ''));
    return edited;
  }

  #key(input: Extract<Input, { kind: 'key' }>): ComposerOutcome {
    if (input.ctrl === true && input.key === 'j') return this.#change(insertBreak(this.editor));
    const edit = editByKey(this.editor, input);
    return edit === undefined ? unused : this.#change(edit);
  }
}
