import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEntry } from '../../../src/tui/editor/commands.ts';
import {
  editorMessage,
  emptyEditor,
  insertFile,
  insertPaste,
  insertText,
} from '../../../src/tui/editor/editor.ts';
import { draftPath, keepDraft, readDraft } from '../../../src/tui/history/drafts.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'adjutant-drafts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a draft comes back with its pieces and its cursor, in the session alone', async () => {
  const path = draftPath(folder, 'shop.db', '../a session/of mine');
  const lines = 'line\n'.repeat(20);
  const file = { text: 'a.pdf', path: '/a.pdf', label: 'file a.pdf 4 kB' };
  const editor = insertFile(insertPaste(insertText(emptyEditor, 'see '), lines), file);
  await keepDraft(path, editor);
  const draft = await readDraft(path);
  expect(draft).toMatchObject({ cursor: editor.cursor, atoms: editor.atoms, former: [] });
  expect(editorMessage(draft ?? emptyEditor).text).toBe(`see ${lines}[file a.pdf 4 kB]`);
  expect(await readDraft(draftPath(folder, 'other.db', '../a session/of mine'))).toBeUndefined();
  expect(path.startsWith(join(folder, 'drafts'))).toBe(true);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a pasted command is no command when it comes back', async () => {
  const path = draftPath(folder, 'shop.db', 's1');
  await keepDraft(path, insertPaste(emptyEditor, '/quit'));
  expect(readEntry((await readDraft(path)) ?? emptyEditor).kind).toBe('message');
});

test('an empty editor ends the draft', async () => {
  const path = draftPath(folder, 'shop.db', 's2');
  await keepDraft(path, insertText(emptyEditor, 'hello'));
  await keepDraft(path, emptyEditor);
  expect(existsSync(path)).toBe(false);
  await keepDraft(path, emptyEditor);
  expect(await readDraft(path)).toBeUndefined();
});

test.each([
  'nonsense',
  'null',
  '{"version":2,"atoms":["a"],"cursor":0}',
  '{"version":1,"atoms":[1],"cursor":0}',
  '{"version":1,"atoms":[{"kind":"file","text":"a"}],"cursor":0}',
  '{"version":1,"atoms":[{"kind":"slash","text":"x"}],"cursor":0}',
  '{"version":1,"atoms":[],"cursor":0}',
])('%j is no draft', async (stored) => {
  const path = draftPath(folder, 'shop.db', 's3');
  await keepDraft(path, insertText(emptyEditor, 'hello'));
  writeFileSync(path, stored);
  expect(await readDraft(path)).toBeUndefined();
});

test('a cursor outside the text is put at its end', async () => {
  const path = draftPath(folder, 'shop.db', 's4');
  await keepDraft(path, insertText(emptyEditor, 'hello'));
  writeFileSync(path, '{"version":1,"atoms":["a"],"cursor":99}');
  expect(await readDraft(path)).toMatchObject({ atoms: ['a'], cursor: 1 });
});
