import { expect, test } from 'vitest';
import { withCommand } from './program.ts';

const piped = { stdin: { isTTY: false }, stdout: { isTTY: false } } as Parameters<
  typeof withCommand
>[1];
const terminal = { stdin: { isTTY: true }, stdout: { isTTY: true } } as Parameters<
  typeof withCommand
>[1];

test.each([
  [['What is 2 + 2?'], ['run', 'What is 2 + 2?']],
  [['2+2'], ['run', '2+2']],
  [
    ['--json', 'Add them up'],
    ['run', '--json', 'Add them up'],
  ],
  [
    ['--', '-5 + 3'],
    ['run', '--', '-5 + 3'],
  ],
  [
    ['sessions', '--json'],
    ['sessions', '--json'],
  ],
  [['sesions'], ['sesions']],
  [['--help'], ['--help']],
  [[''], ['run', '']],
  [[], ['tour']],
])('%j means %j', (args, meant) => {
  expect(withCommand(args, piped)).toEqual(meant);
});

test('nothing at all on a terminal is a chat', () => {
  expect(withCommand([], terminal)).toEqual(['chat']);
});
