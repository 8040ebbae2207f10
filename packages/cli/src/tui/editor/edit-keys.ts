import { type Editor, undo } from './editor.ts';
import { deleteBackward, deleteForward, type Kill, kill, type Move, move, yank } from './edits.ts';
import type { Input } from './keys.ts';

const moves: Readonly<Record<string, Move>> = {
  left: 'left',
  right: 'right',
  home: 'lineStart',
  end: 'lineEnd',
};
const controlMoves: Readonly<Record<string, Move>> = {
  a: 'lineStart',
  b: 'left',
  e: 'lineEnd',
  f: 'right',
  left: 'wordLeft',
  right: 'wordRight',
  home: 'start',
  end: 'end',
};
const altMoves: Readonly<Record<string, Move>> = {
  b: 'wordLeft',
  f: 'wordRight',
  left: 'wordLeft',
  right: 'wordRight',
};
const controlKills: Readonly<Record<string, Kill>> = {
  k: 'lineEnd',
  u: 'lineStart',
  w: 'blankWordLeft',
  backspace: 'wordLeft',
};
const altKills: Readonly<Record<string, Kill>> = { d: 'wordRight', backspace: 'wordLeft' };
const controlEdits: Readonly<Record<string, (editor: Editor) => Editor>> = {
  d: deleteForward,
  y: yank,
  _: undo,
  '/': undo,
};
const edits: Readonly<Record<string, (editor: Editor) => Editor>> = {
  backspace: deleteBackward,
  delete: deleteForward,
};

/**
 * Returns the editor after a key that moves in its text, deletes, yanks or takes back. `undefined`:
 * the key is none of these. Enter, line breaks and rows are up to the place of the editor.
 */
export function editByKey(
  editor: Editor,
  { key, ctrl, alt }: Extract<Input, { kind: 'key' }>,
): Editor | undefined {
  const where = (ctrl ? controlMoves : alt ? altMoves : moves)[key];
  if (where !== undefined) return move(editor, where);
  const what = ctrl ? controlKills[key] : alt ? altKills[key] : undefined;
  if (what !== undefined) return kill(editor, what);
  return (ctrl ? controlEdits : alt ? {} : edits)[key]?.(editor);
}
