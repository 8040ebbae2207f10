import { type Atom, atomsOf, isBlank, isBreak, isWordPart } from './atoms.ts';
import { type Editor, replaceRange } from './editor.ts';

/** Moves of the cursor, by the names of the acts. */
export type Move =
  | 'left'
  | 'right'
  | 'wordLeft'
  | 'wordRight'
  | 'lineStart'
  | 'lineEnd'
  | 'start'
  | 'end';

/** Moves the cursor. */
export function move(editor: Editor, where: Move): Editor {
  return placeCursor(editor, target(editor, where));
}

/** Puts the cursor at a place, within the text. */
export function placeCursor(editor: Editor, place: number): Editor {
  const { goal: _, ...rest } = editor;
  return { ...rest, cursor: Math.max(0, Math.min(place, editor.atoms.length)), act: 'move' };
}

/** Deletes what stands before the cursor. A file becomes the text again that named it. */
export function deleteBackward(editor: Editor): Editor {
  const { atoms, cursor } = editor;
  const atom = atoms[cursor - 1];
  if (atom === undefined) return editor;
  const left = typeof atom !== 'string' && atom.kind === 'file' ? atomsOf(atom.text) : [];
  return replaceRange(editor, cursor - 1, cursor, left, 'other');
}

/** Deletes what stands behind the cursor. */
export function deleteForward(editor: Editor): Editor {
  const { atoms, cursor } = editor;
  return cursor === atoms.length ? editor : replaceRange(editor, cursor, cursor + 1, [], 'other');
}

/** Parts of the text that are killed, from the cursor. */
export type Kill = 'blankWordLeft' | 'wordLeft' | 'wordRight' | 'lineStart' | 'lineEnd' | 'all';

/**
 * Deletes a part of the text and keeps it for `yank`. At the end or the begin of a line the kill
 * takes the line break. Kills in a row are kept together.
 */
export function kill(editor: Editor, what: Kill): Editor {
  const { atoms, cursor } = editor;
  const [start, end] = killed(editor, what);
  if (start === end) return editor;
  const taken = atoms.slice(start, end);
  const isAhead = end > cursor && what !== 'all';
  const before = editor.act === 'kill' ? editor.killed : [];
  const together = isAhead ? [...before, ...taken] : [...taken, ...before];
  return { ...replaceRange(editor, start, end, [], 'kill'), killed: together };
}

/** Inserts what was killed last. */
export function yank(editor: Editor): Editor {
  if (editor.killed.length === 0) return editor;
  return replaceRange(editor, editor.cursor, editor.cursor, editor.killed, 'other');
}

function killed(editor: Editor, what: Kill): readonly [start: number, end: number] {
  const { atoms, cursor } = editor;
  if (what === 'all') return [0, atoms.length];
  if (what === 'wordRight') return [cursor, target(editor, 'wordRight')];
  if (what === 'wordLeft') return [target(editor, 'wordLeft'), cursor];
  if (what === 'blankWordLeft') return [passBack(editor, isBlank, isNoBlank), cursor];
  const end = target(editor, what);
  if (what === 'lineEnd') return [cursor, end === cursor ? Math.min(end + 1, atoms.length) : end];
  return [end === cursor ? Math.max(0, end - 1) : end, cursor];
}

function target(editor: Editor, where: Move): number {
  const { atoms, cursor } = editor;
  switch (where) {
    case 'left':
      return cursor - 1;
    case 'right':
      return cursor + 1;
    case 'start':
      return 0;
    case 'end':
      return atoms.length;
    case 'wordLeft':
      return passBack(editor, (atom) => !isWordPart(atom), isWordPart);
    case 'wordRight':
      return passAhead(editor, (atom) => !isWordPart(atom), isWordPart);
    case 'lineStart':
      return passBack(editor, (atom) => !isBreak(atom));
    case 'lineEnd':
      return passAhead(editor, (atom) => !isBreak(atom));
  }
}

type Test = (atom: Atom) => boolean;
const isNoBlank: Test = (atom) => !isBlank(atom);

/** Place before all atoms that pass the tests, one test after the other, back from the cursor. */
function passBack({ atoms, cursor }: Editor, ...tests: readonly Test[]): number {
  let at = cursor;
  for (const test of tests) while (at > 0 && test(atoms[at - 1] as Atom)) at--;
  return at;
}

function passAhead({ atoms, cursor }: Editor, ...tests: readonly Test[]): number {
  let at = cursor;
  for (const test of tests) while (at < atoms.length && test(atoms[at] as Atom)) at++;
  return at;
}
