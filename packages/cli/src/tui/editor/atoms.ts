import { formatCount } from '../../output/format.ts';
import { type Piece as VisiblePiece, visible } from '../text/visible.ts';
import { graphemes } from '../text/width.ts';

/** A longer pasted text: it is shown as one word, deleted as one, and sent whole. */
export interface PastedPiece {
  readonly kind: 'paste';
  readonly text: string;
}

/** A file that goes with the message. */
export interface FilePiece {
  readonly kind: 'file';
  /** Text that named the file; it comes back when the piece is taken off. */
  readonly text: string;
  /** Path of the file. */
  readonly path: string;
  /** Text of the piece without its brackets: `file invoice.pdf 41 kB`. */
  readonly label: string;
}

/** A character that was pasted, and so begins no command. */
export interface PastedSlash {
  readonly kind: 'slash';
  readonly text: '/';
}

/** Place that the cursor does not enter: a character, a line break, or a piece. */
export type Atom = string | PastedPiece | FilePiece | PastedSlash;

export function isBreak(atom: Atom | undefined): boolean {
  return atom === '\n';
}

export function isText(atom: Atom | undefined): atom is string {
  return typeof atom === 'string' && atom !== '\n';
}

/** Checks for a character of ASCII, which joins with none beside it. */
export function isPlain(atom: Atom | undefined): atom is string {
  if (typeof atom !== 'string' || atom.length !== 1) return false;
  const code = atom.charCodeAt(0);
  return code >= 0x20 && code <= 0x7e;
}

export function isBlank(atom: Atom | undefined): boolean {
  return typeof atom === 'string' && /^\s/u.test(atom);
}

export function isWordPart(atom: Atom | undefined): boolean {
  return atom !== undefined && (typeof atom !== 'string' || /^[\p{L}\p{N}_]/u.test(atom));
}

/** Returns the text that an atom stands for. */
export function textOf(atom: Atom): string {
  return typeof atom === 'string' ? atom : atom.text;
}

/** Returns the atoms of a text that has no pieces. */
export function atomsOf(text: string): Atom[] {
  return text.split('\n').flatMap((line, at) => {
    const characters = graphemes(line).map((grapheme) => grapheme.text);
    return at === 0 ? characters : ['\n', ...characters];
  });
}

/** Parts texts anew that stand beside one another, so that characters are whole. */
export function segmented(atoms: readonly Atom[]): Atom[] {
  const parts: Atom[] = [];
  let run = '';
  for (const atom of atoms)
    if (isText(atom)) run += atom;
    else {
      parts.push(...atomsOf(run), atom);
      run = '';
    }
  return [...parts, ...atomsOf(run)];
}

/** Returns what the composer shows for an atom; `next` stands behind it. */
export function shownPieces(atom: Atom, next: Atom | undefined): readonly VisiblePiece[] {
  if (typeof atom !== 'string') return [{ text: labelOf(atom) }];
  if (isPlain(atom)) return [{ text: atom }];
  // A joiner at the end of a character is seen by the letter behind it.
  const follower = isText(next) ? ([...next][0] ?? '') : '';
  const { pieces } = visible(atom + follower, 'prose');
  if (follower !== '' && pieces.length === 1 && pieces[0]?.text === atom + follower)
    return [{ text: atom }];
  return visible(atom, 'prose').pieces;
}

function labelOf(piece: Exclude<Atom, string>): string {
  if (piece.kind === 'slash') return piece.text;
  if (piece.kind === 'file') return `[${piece.label}]`;
  const lines = piece.text.split('\n').length;
  const size = lines > 1 ? formatCount(lines, 'line') : formatCount(piece.text.length, 'character');
  return `[pasted ${size}]`;
}
