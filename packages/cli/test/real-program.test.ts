/**
 * Proofs of the real program, in a process of its own: its exit code, its streams, modules that
 * Node loads, and that it ends. The other tests carry out commands in the process of the test.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bench, jsonLines } from './run-cli.ts';

const fixtures = fileURLToPath(new URL('fixtures/', import.meta.url));

describe('the exit code and the streams of the process', () => {
  test.for<[string[], { code: number; stdout: RegExp; stderr: RegExp }]>([
    [
      ['--model', 'rehearsal', 'What is 12 * 12?'],
      { code: 0, stdout: /12 \* 12 = 144\./, stderr: /^$/ },
    ],
    [
      ['--store', 'folder', '--model', 'rehearsal', 'What is 12 * 12?'],
      { code: 1, stdout: /^$/, stderr: /^adjutant: The store .* it is a directory.*\n$/ },
    ],
    [['--modle', 'x'], { code: 2, stdout: /^$/, stderr: /^adjutant: unknown option '--modle'/ }],
    [
      ['--ask-before', 'calculate', '--model', 'rehearsal', 'What is 12 * 12?'],
      { code: 3, stdout: /^\? asks for approval: calculate/m, stderr: /^$/ },
    ],
    [['--help'], { code: 0, stdout: /^Usage: adjutant/, stderr: /^$/ }],
  ])('%j', async ([args, { code, stdout, stderr }]) => {
    const { start, folder } = bench();
    mkdirSync(join(folder, 'folder'));
    expect(await start(args, { cwd: folder }).finished).toEqual({
      code,
      signal: null,
      stdout: expect.stringMatching(stdout),
      stderr: expect.stringMatching(stderr),
    });
  });

  test('standard input is the conversation of a chat', async () => {
    const { start, run } = bench();
    const talk = start(['chat', '--session', 'talk', '--model', 'rehearsal'], {
      input: 'What is 6 * 7?\nWhat is 10% of that?\n',
    });
    expect(await talk.finished).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/6 \* 7 = 42\.(.*\n)*.*10% of 42 is 4\.2\./),
      stderr: '',
    });
    expect(jsonLines((await run(['sessions', '--json'])).stdout)).toMatchObject([
      { id: 'talk', status: 'completed' },
    ]);
  });

  test('a reader that has left ends the program as a broken pipe does', async () => {
    const { child, finished } = bench().start(['--help']);
    child.stdout?.destroy();
    expect(await finished).toMatchObject({ code: 141, signal: null });
  });
});

test('the configuration is a TypeScript module that Node loads', async () => {
  const { start, folder } = bench();
  const given = {
    cwd: join(fixtures, 'shop'),
    env: { SHOP_STORE: join(folder, 'shop.db') },
  };
  expect(await start(['sessions'], given).finished).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('There are no sessions of the app "shop"'),
    stderr: '',
  });
});

test('no command leaves anything open that keeps the process from ending', async () => {
  const { start, folder } = bench();
  const expected: [string[], number][] = [
    [['run', '--session', 'a', 'What is 12 * 12?'], 0],
    [['run', '--session', 'b', '--ask-before', 'calculate', 'What is 12 * 12?'], 3],
    [['sessions'], 0],
    [['show', 'a', '--tree'], 0],
    [['explain', 'a'], 0],
    [['fork', 'a', '--at', '9', '--id', 'c'], 0],
    [['resume', 'c'], 0],
    [['diff', 'a', 'a'], 0],
    [['replay', 'a'], 0],
    [['export', 'a', '-o', join(folder, 'a.json')], 0],
    [['approvals'], 0],
    [['approve', 'req_unknown'], 2],
    [['cancel', 'b'], 0],
    [['resolve', 'a', 'a/charge', '--happened'], 2],
    [['reopen', 'b', '--reason', 'Not yet'], 0],
    [['delete', 'c'], 0],
    [['tasks', 'submit', 'assistant', 'Hello', '--delay', '1h'], 0],
    [['tasks'], 0],
    [['tasks', 'cancel', 'unknown'], 2],
    [['triggers', 'preview', '--cron', '0 8 * * 1-5', '--zone', 'Europe/Berlin'], 0],
    [['triggers'], 2],
    [['keys', 'create', '--name', 'ci', '--role', 'viewer'], 0],
    [['keys', 'list'], 0],
    [['eval', join(fixtures, 'eval/capitals.eval.ts'), '--threshold', '0'], 0],
    [['replay', 'x', '--config', join(fixtures, 'shop/adjutant.config.ts')], 2],
    [['--store', join(folder, 'no', 'store.db'), 'Hello'], 1],
  ];
  const { code, signal, stdout } = await start([JSON.stringify(expected.map(([args]) => args))], {
    program: join(fixtures, 'all-commands.ts'),
  }).finished;
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(JSON.parse(stdout)).toEqual(
    Object.fromEntries(expected.map(([args, wanted]) => [args.join(' '), wanted])),
  );
});
