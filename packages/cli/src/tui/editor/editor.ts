import { type Atom, atomsOf, type FilePiece, isPlain, isText, segmented, textOf } from './atoms.ts';

/** Act before; typed characters of one word are undone together, kills in a row are yanked so. */
type Act = 'type' | 'kill' | 'move' | 'other';

interface Snapshot {
  readonly atoms: readonly Atom[];
  readonly cursor: number;
}

/** Text of several lines with a cursor. It never changes: each act gives another one. */
export interface Editor extends Snapshot {
  readonly killed: readonly Atom[];
  readonly former: readonly Snapshot[];
  readonly act: Act;
  /** Column that the cursor keeps while it goes up and down. */
  readonly goal?: number;
}

const mostFormer = 200;
const longestInline = { lines: 10, characters: 1_000 };
const largestPaste = 1_000_000;

export const emptyEditor: Editor = { atoms: [], cursor: 0, killed: [], former: [], act: 'other' };

/** Returns an editor with a text and the cursor behind it. */
export function editorWith(text: string): Editor {
  const atoms = atomsOf(oneKindOfBreaks(text));
  return { ...emptyEditor, atoms, cursor: atoms.length };
}

/** Returns the text that stands in the editor, pieces written out. */
export function editorText(editor: Editor): string {
  return editor.atoms.map(textOf).join('');
}

/** Returns the message that the editor holds: pasted texts whole, files by their labels. */
export function editorMessage(editor: Editor): {
  readonly text: string;
  readonly files: readonly FilePiece[];
} {
  const files = editor.atoms.filter((atom) => typeof atom !== 'string' && atom.kind === 'file');
  const text = editor.atoms
    .map((atom) =>
      typeof atom !== 'string' && atom.kind === 'file' ? `[${atom.label}]` : textOf(atom),
    )
    .join('');
  return { text, files: files as FilePiece[] };
}

/** Returns the editor with another text, which one undo takes back. */
export function withText(editor: Editor, text: string): Editor {
  const atoms = atomsOf(oneKindOfBreaks(text));
  return replaceRange(editor, 0, editor.atoms.length, atoms, 'other');
}

/** Inserts typed characters at the cursor. */
export function insertText(editor: Editor, text: string): Editor {
  const { cursor } = editor;
  const typed = replaceRange(editor, cursor, cursor, atomsOf(oneKindOfBreaks(text)), 'type');
  return /\s$/.test(text) ? { ...typed, act: 'other' } : typed;
}

/** Inserts a line break at the cursor. */
export function insertBreak(editor: Editor): Editor {
  return replaceRange(editor, editor.cursor, editor.cursor, ['\n'], 'other');
}

/** Inserts a line break in the place of the `\` before the cursor; `undefined`: there is none. */
export function breakAfterBackslash(editor: Editor): Editor | undefined {
  const { atoms, cursor } = editor;
  if (atoms[cursor - 1] !== '\\') return undefined;
  return replaceRange(editor, cursor - 1, cursor, ['\n'], 'other');
}

/** Returns why a text cannot be pasted; `undefined` when it can. */
export function pasteProblem(text: string): string | undefined {
  if (text.length <= largestPaste) return undefined;
  const size = `${(text.length / 1e6).toFixed(1)} million characters`;
  return `The pasted text has ${size}, 1 million fit. Save it and attach it: /attach <file>`;
}

/**
 * Inserts a pasted text at the cursor, in one piece that one undo takes back. A longer one is
 * shown as `[pasted 214 lines]`. A pasted `/` begins no command.
 */
export function insertPaste(editor: Editor, pasted: string): Editor {
  const text = oneKindOfBreaks(pasted);
  const isLong =
    text.length > longestInline.characters || text.split('\n').length > longestInline.lines;
  const [first, ...rest] = atomsOf(isLong ? '' : text);
  const inline: Atom[] = first === undefined ? [] : [first, ...rest];
  if (first === '/') inline[0] = { kind: 'slash', text: '/' };
  const atoms: Atom[] = isLong ? [{ kind: 'paste', text }] : inline;
  return replaceRange(editor, editor.cursor, editor.cursor, atoms, 'other');
}

/** Inserts a pasted text into a field of one line: its line breaks are blanks. */
export function insertPasteInLine(editor: Editor, pasted: string): Editor {
  const atoms = atomsOf(oneKindOfBreaks(pasted).replaceAll('\n', ' '));
  return replaceRange(editor, editor.cursor, editor.cursor, atoms, 'other');
}

/** Inserts a file at the cursor, in the place of the `replaced` characters before it. */
export function insertFile(editor: Editor, file: Omit<FilePiece, 'kind'>, replaced = 0): Editor {
  const start = Math.max(0, editor.cursor - replaced);
  return replaceRange(editor, start, editor.cursor, [{ kind: 'file', ...file }], 'other');
}

/** Takes the last change back. */
export function undo(editor: Editor): Editor {
  const last = editor.former.at(-1);
  if (last === undefined) return editor;
  const { goal: _, ...rest } = editor;
  return { ...rest, ...last, former: editor.former.slice(0, -1), act: 'other' };
}

/** Puts atoms in the place of those between two places; the cursor stands behind them. */
export function replaceRange(
  editor: Editor,
  start: number,
  end: number,
  inserted: readonly Atom[],
  act: Act,
): Editor {
  const { atoms } = editor;
  const [from, to] = joiningRange(atoms, start, end, inserted);
  const before = [...atoms.slice(from, start), ...inserted];
  const run = segmented([...before, ...atoms.slice(end, to)]);
  const next = [...atoms.slice(0, from), ...run, ...atoms.slice(to)];
  const cursor = from + countUpTo(run, lengthOf(before));
  const { goal: _, former, ...rest } = editor;
  const isOneChange = act === 'type' && editor.act === 'type';
  const snapshot = { atoms, cursor: editor.cursor };
  return {
    ...rest,
    atoms: next,
    cursor,
    act,
    former: isOneChange ? former : [...former, snapshot].slice(-mostFormer),
  };
}

/**
 * Range of the atoms that may join otherwise when some of them are replaced. Characters of ASCII
 * join with nothing; beside others it is the whole text up to the next break or piece.
 */
function joiningRange(
  atoms: readonly Atom[],
  start: number,
  end: number,
  inserted: readonly Atom[],
): readonly [from: number, to: number] {
  const joins = (atom: Atom | undefined): boolean => isText(atom) && !isPlain(atom);
  if (![atoms[start - 1], ...inserted, atoms[end]].some(joins)) return [start, end];
  let from = start;
  while (isText(atoms[from - 1])) from--;
  let to = end;
  while (isText(atoms[to])) to++;
  return [from, to];
}

function lengthOf(atoms: readonly Atom[]): number {
  return atoms.reduce((length, atom) => length + textOf(atom).length, 0);
}

/** Number of atoms that a text of this length takes; a character that it ends in counts whole. */
function countUpTo(atoms: readonly Atom[], length: number): number {
  let left = length;
  let count = 0;
  for (; left > 0 && count < atoms.length; count++) left -= textOf(atoms[count] as Atom).length;
  return count;
}

function oneKindOfBreaks(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
