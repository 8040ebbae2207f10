import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  breakAfterBackslash,
  type Editor,
  editorMessage,
  editorText,
  editorWith,
  emptyEditor,
  insertBreak,
  insertFile,
  insertPaste,
  insertPasteInLine,
  insertText,
  pasteProblem,
  undo,
  withText,
} from '../../../src/tui/editor/editor.ts';
import {
  deleteBackward,
  deleteForward,
  kill,
  move,
  placeCursor,
  yank,
} from '../../../src/tui/editor/edits.ts';
import { moveRow, rows } from '../../../src/tui/editor/rows.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth, graphemes } from '../../../src/tui/text/width.ts';

const lines = (count: number): string =>
  Array.from({ length: count }, (_, at) => `line ${at}`).join('\n');

/** The editor as it is painted, with `▏` at the cursor. */
function painted(editor: Editor, width = 40, height = 10): string[] {
  const { rows: all, cursor } = rows(editor, width, height);
  return all.map((row, at) => {
    const text = textOfLine(row);
    if (at !== cursor.row) return text;
    let used = 0;
    let offset = 0;
    for (const grapheme of graphemes(text)) {
      if (used >= cursor.column) break;
      used += grapheme.width;
      offset += grapheme.text.length;
    }
    return `${text.slice(0, offset)}▏${text.slice(offset)}`;
  });
}

test('text is typed at the cursor, by whole characters', () => {
  const typed = insertText(insertText(emptyEditor, '日👩'), '\u200d👧!');
  expect(editorText(typed)).toBe('日👩‍👧!');
  expect(typed.cursor).toBe(3);
  expect(editorText(deleteBackward(placeCursor(typed, 2)))).toBe('日!');
  expect(editorText(deleteForward(placeCursor(typed, 0)))).toBe('👩‍👧!');
  expect(deleteBackward(emptyEditor)).toBe(emptyEditor);
  expect(deleteForward(typed)).toBe(typed);
});

test('the cursor moves by words and lines', () => {
  const editor = editorWith('one two\nthree.four');
  const from = (place: number) => placeCursor(editor, place);
  expect(move(editor, 'wordLeft').cursor).toBe(14);
  expect(move(from(0), 'wordRight').cursor).toBe(3);
  expect(move(from(3), 'wordRight').cursor).toBe(7);
  expect(move(editor, 'lineStart').cursor).toBe(8);
  expect(move(from(2), 'lineEnd').cursor).toBe(7);
  expect(move(from(0), 'left').cursor).toBe(0);
  expect(move(editor, 'right').cursor).toBe(18);
  expect([move(editor, 'start').cursor, move(from(1), 'end').cursor]).toEqual([0, 18]);
});

test('what is killed can be yanked; kills in a row come back together', () => {
  const editor = editorWith('say one two');
  const twice = kill(kill(editor, 'blankWordLeft'), 'blankWordLeft');
  expect(editorText(twice)).toBe('say ');
  expect(editorText(yank(twice))).toBe('say one two');
  const parted = kill(move(kill(editor, 'wordLeft'), 'start'), 'wordRight');
  expect(editorText(parted)).toBe(' one ');
  expect(editorText(yank(parted))).toBe('say one ');
  expect(editorText(kill(editorWith('a/b c/d'), 'blankWordLeft'))).toBe('a/b ');
  expect(editorText(kill(editorWith('a/b c/d'), 'wordLeft'))).toBe('a/b c/');
});

test('a kill at the end of a line takes the break; all can be killed and brought back', () => {
  const editor = placeCursor(editorWith('ab\ncd'), 2);
  expect(editorText(kill(editor, 'lineEnd'))).toBe('abcd');
  expect(editorText(kill(placeCursor(editor, 3), 'lineStart'))).toBe('abcd');
  expect(editorText(kill(placeCursor(editor, 4), 'lineStart'))).toBe('ab\nd');
  const cleared = kill(editor, 'all');
  expect(editorText(cleared)).toBe('');
  expect(editorText(yank(cleared))).toBe('ab\ncd');
  expect(yank(emptyEditor)).toBe(emptyEditor);
});

test('undo takes back a word, a paste, a kill', () => {
  let editor = emptyEditor;
  for (const character of 'one two') editor = insertText(editor, character);
  expect(editorText(undo(editor))).toBe('one ');
  expect(editorText(undo(undo(editor)))).toBe('');
  expect(editorText(undo(kill(editor, 'all')))).toBe('one two');
  expect(editorText(undo(insertPaste(editor, 'x\ny')))).toBe('one two');
  expect(editorText(undo(withText(editor, 'from the editor')))).toBe('one two');
  expect(undo(emptyEditor)).toBe(emptyEditor);
});

test('a long paste is shown as its size, deleted as one and sent whole', () => {
  const editor = insertText(insertPaste(insertText(emptyEditor, 'see '), lines(214)), ' and this');
  expect(painted(editor)).toEqual(['see [pasted 214 lines] and this▏']);
  expect(editorMessage(editor).text).toBe(`see ${lines(214)} and this`);
  expect(editorText(deleteBackward(placeCursor(editor, 5)))).toBe('see  and this');
  expect(painted(insertPaste(emptyEditor, 'x'.repeat(1_234)))).toEqual([
    '[pasted 1,234 characters]▏',
  ]);
});

test('a short paste is text; its ends of lines are line breaks', () => {
  expect(painted(insertPaste(emptyEditor, 'a\r\nb\rc'))).toEqual(['a', 'b', 'c▏']);
  expect(editorText(insertPasteInLine(emptyEditor, 'a\r\nb'))).toBe('a b');
});

test('a paste of more than 1 MB is refused', () => {
  expect(pasteProblem('x'.repeat(1_000_000))).toBeUndefined();
  expect(pasteProblem('x'.repeat(2_500_000))).toBe(
    'The pasted text has 2.5 million characters, 1 million fit. ' +
      'Save it and attach it: /attach <file>',
  );
});

test('a file is a piece of the message, and its name again after Backspace', () => {
  const file = {
    text: './invoice.pdf',
    path: '/home/ada/invoice.pdf',
    label: 'file invoice.pdf 41 kB',
  };
  const editor = insertFile(insertText(emptyEditor, 'read @inv'), file, 4);
  expect(painted(editor)).toEqual(['read [file invoice.pdf 41 kB]▏']);
  expect(editorMessage(editor)).toEqual({
    text: 'read [file invoice.pdf 41 kB]',
    files: [{ kind: 'file', ...file }],
  });
  const named = deleteBackward(editor);
  expect(editorMessage(named)).toEqual({ text: 'read ./invoice.pdf', files: [] });
});

test('a backslash before Enter is a line break', () => {
  const editor = breakAfterBackslash(insertText(emptyEditor, 'one\\'));
  expect(painted(editor ?? emptyEditor)).toEqual(['one', '▏']);
  expect(breakAfterBackslash(emptyEditor)).toBeUndefined();
});

test('rows are wrapped at words, with the cursor at its place', () => {
  const editor = editorWith('one two three\n\nfour');
  expect(painted(editor, 8)).toEqual(['one two ', 'three', '', 'four▏']);
  expect(painted(placeCursor(editor, 8), 8)).toEqual(['one two ', '▏three', '', 'four']);
  expect(painted(placeCursor(editor, 14), 8)).toEqual(['one two ', 'three', '▏', 'four']);
  expect(painted(editorWith('日本語'), 4)).toEqual(['日本', '語▏']);
  expect(painted(editorWith('12345678  '), 8)).toEqual(['12345678▏']);
});

test('rows that do not fit are counted; the cursor is among those shown', () => {
  const editor = editorWith(lines(20));
  expect(rows(editor, 40, 5)).toMatchObject({ above: 15, below: 0, cursor: { row: 4, column: 7 } });
  expect(rows(placeCursor(editor, 0), 40, 5)).toMatchObject({ above: 0, below: 15 });
  expect(painted(move(move(editor, 'start'), 'lineEnd'), 40, 1)).toEqual(['line 0▏']);
});

test('the cursor keeps its column over a shorter row, and stays in the text', () => {
  const editor = placeCursor(editorWith('one two\na\nthree'), 5);
  const down = moveRow(editor, 1, 40) as Editor;
  expect(painted(down)).toEqual(['one two', 'a▏', 'three']);
  const further = moveRow(down, 1, 40) as Editor;
  expect(painted(further)).toEqual(['one two', 'a', 'three▏']);
  expect(moveRow(further, 1, 40)).toBeUndefined();
  expect(moveRow(editor, -1, 40)).toBeUndefined();
  expect(moveRow(moveRow(further, -1, 40) as Editor, -1, 40)?.cursor).toBe(5);
});

test('a mask hides what is typed', () => {
  const { rows: shown } = rows(editorWith('se日ret'), 40, 1, '•');
  expect(shown.map(textOfLine)).toEqual(['••••••']);
});

test('hostile text in the editor is shown, and sent as it is', () => {
  const editor = insertPaste(emptyEditor, 'a\x1b[31m\u202eb می‌خواهم');
  expect(painted(editor)).toEqual(['a␛[31m⟨U+202E⟩b می‌خواهم▏']);
  expect(rows(editor, 40, 1).rows[0]).toContainEqual({ text: '␛', color: 'yellow' });
  expect(editorText(editor)).toBe('a\x1b[31m\u202eb می‌خواهم');
});

const piece = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      'a',
      'b',
      ' ',
      '/',
      '日',
      '👩',
      '\u200d',
      '\u0301',
      '🇩',
      '🇪',
      '\n',
      '\r\n',
      '\x1b',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 12,
});
const act = fc.oneof(
  piece.map((text) => (editor: Editor) => insertText(editor, text)),
  piece.map((text) => (editor: Editor) => insertPaste(editor, text)),
  fc
    .constantFrom('left', 'right', 'wordLeft', 'wordRight', 'lineStart', 'lineEnd', 'start')
    .map((where) => (editor: Editor) => move(editor, where)),
  fc
    .constantFrom('blankWordLeft', 'wordRight', 'lineStart', 'lineEnd', 'all')
    .map((what) => (editor: Editor) => kill(editor, what)),
  fc.constantFrom(
    deleteBackward,
    deleteForward,
    yank,
    undo,
    insertBreak,
    (editor: Editor) => insertPaste(editor, lines(12)),
    (editor: Editor) => moveRow(editor, 1, 10) ?? editor,
    (editor: Editor) => moveRow(editor, -1, 10) ?? editor,
  ),
);
const acts = fc.array(act, { maxLength: 20 });

test('after any acts the text is of whole characters, and its rows fit with the cursor', () => {
  fc.assert(
    fc.property(acts, fc.integer({ min: 2, max: 30 }), (steps, width) => {
      const editor = steps.reduce((state, step) => step(state), emptyEditor);
      expect(editor.cursor).toBeGreaterThanOrEqual(0);
      expect(editor.cursor).toBeLessThanOrEqual(editor.atoms.length);
      const runs = editor.atoms.map((atom) => (typeof atom === 'string' ? atom : '\0'));
      const whole = runs
        .join('')
        .split(/([\n\0])/)
        .flatMap((run) => graphemes(run).map((grapheme) => grapheme.text));
      expect(runs).toEqual(whole);
      const { rows: shown, cursor, above, below } = rows(editor, width, 4);
      expect(shown.length).toBeLessThanOrEqual(4);
      expect(above + below === 0 || shown.length === 4).toBe(true);
      expect(cursor.row).toBeLessThan(shown.length);
      expect(cursor.column).toBeLessThanOrEqual(width);
      for (const row of shown) expect(displayWidth(textOfLine(row))).toBeLessThanOrEqual(width);
    }),
    { numRuns: 500 },
  );
});

test('undo leads back to the beginning, however often the text was changed', () => {
  fc.assert(
    fc.property(acts, (steps) => {
      let editor = steps.reduce((state, step) => step(state), emptyEditor);
      for (let at = 0; at <= steps.length; at++) editor = undo(editor);
      expect(editorText(editor)).toBe('');
    }),
    { numRuns: 200 },
  );
});
