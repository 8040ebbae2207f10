import { nearestName } from 'adjutant/text';
import { type Editor, editorMessage, editorWith } from './editor.ts';

/** Meaning of the text of the composer. */
export type Entry =
  | { readonly kind: 'empty' }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'command'; readonly name: string; readonly words: string };

/**
 * Reads the text of the composer. A command is `/` and small letters, then a blank or the end;
 * `/usr/bin` is a message. `//x` is the message `/x`. Pasted text is no command.
 */
export function readEntry(editor: Editor): Entry {
  const { text } = editorMessage(editor);
  if (text.trim() === '') return { kind: 'empty' };
  if (editor.atoms.find((atom) => atom !== ' ') !== '/') return { kind: 'message', text };
  const trimmed = text.trimStart();
  if (trimmed.startsWith('//')) return { kind: 'message', text: trimmed.slice(1) };
  const [, name, words = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(trimmed) ?? [];
  if (name === undefined) return { kind: 'message', text };
  return { kind: 'command', name, words: words.trim() };
}

/** Returns a message as it is typed, so that it is sent once more and is no command. */
export function asTyped(message: string): string {
  const entry = readEntry(editorWith(message));
  return entry.kind === 'message' && entry.text === message ? message : `/${message}`;
}

/** Returns the text for a command that there is not. */
export function unknownCommand(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? 'See /help.' : `Did you mean /${nearest}?`;
  return `There is no /${name}. ${hint} Nothing was sent.`;
}
