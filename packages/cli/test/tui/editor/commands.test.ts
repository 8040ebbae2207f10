import { expect, test } from 'vitest';
import { asTyped, readEntry, unknownCommand } from '../../../src/tui/editor/commands.ts';
import {
  editorWith,
  emptyEditor,
  insertPaste,
  insertText,
} from '../../../src/tui/editor/editor.ts';

test.each([
  ['/model', 'model', ''],
  ['/model  gpt-5 ', 'model', 'gpt-5'],
  ['  /quit', 'quit', ''],
  ['/reject 2 not on\nSunday', 'reject', '2 not on\nSunday'],
])('%j is a command', (text, name, words) => {
  expect(readEntry(editorWith(text))).toEqual({ kind: 'command', name, words });
});

test.each([
  ['hello', 'hello'],
  ['/usr/bin fails', '/usr/bin fails'],
  ['/Model', '/Model'],
  ['/2 of 3', '/2 of 3'],
  ['//model is a command', '/model is a command'],
  ['see /model', 'see /model'],
])('%j is a message', (text, message) => {
  expect(readEntry(editorWith(text))).toEqual({ kind: 'message', text: message });
});

test('blanks are nothing', () => {
  expect(readEntry(emptyEditor)).toEqual({ kind: 'empty' });
  expect(readEntry(editorWith(' \n'))).toEqual({ kind: 'empty' });
});

test('a pasted command is text; one that is typed before a paste is a command', () => {
  expect(readEntry(insertPaste(emptyEditor, '/quit'))).toEqual({ kind: 'message', text: '/quit' });
  expect(readEntry(insertPaste(insertText(emptyEditor, '/reject 1 '), 'because'))).toEqual({
    kind: 'command',
    name: 'reject',
    words: '1 because',
  });
});

test('an unknown command says which one is near, and that nothing was sent', () => {
  expect(unknownCommand('modle', ['model', 'fork'])).toBe(
    'There is no /modle. Did you mean /model? Nothing was sent.',
  );
  expect(unknownCommand('frobnicate', ['model', 'fork'])).toBe(
    'There is no /frobnicate. See /help. Nothing was sent.',
  );
});

test.each([
  ['/usr/bin fails', '/usr/bin fails'],
  ['/quit', '//quit'],
  ['//x', '///x'],
  ['plain', 'plain'],
])('the message %s is typed as %s', (message, typed) => {
  expect(asTyped(message)).toBe(typed);
  expect(readEntry(editorWith(typed))).toEqual({ kind: 'message', text: message });
});
