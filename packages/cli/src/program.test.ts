import { expect, test } from 'vitest';
import { processHost } from './host/host.ts';
import { Interruption } from './host/interruption.ts';
import { buildProgram, withCommand } from './program.ts';

const host = processHost();
const program = buildProgram({
  host,
  interruption: new Interruption(host.signals),
  onExitCode: () => undefined,
});

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
  expect(withCommand(args, piped, program)).toEqual(meant);
});

test('nothing at all on a terminal is a chat', () => {
  expect(withCommand([], terminal, program)).toEqual(['chat']);
});

test.each([
  [['--server', 'http://127.0.0.1:8787']],
  [['--server=http://127.0.0.1:8787', '--plain']],
  [['--session', 'last', '--no-config', '--ask-before', 'all']],
])('options alone on a terminal are those of a chat: %j', (args) => {
  expect(withCommand(args, terminal, program)).toEqual(['chat', ...args]);
  expect(withCommand(args, piped, program)).toEqual(['run', ...args]);
});

test.each([
  [['--session', 'last', 'And the customers?']],
  [['--session', 'last', '-']],
  [['--quiet', '--', '-5 + 3']],
])('options and a goal are run: %j', (args) => {
  expect(withCommand(args, terminal, program)).toEqual(['run', ...args]);
});
