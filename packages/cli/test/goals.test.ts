import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { agent, rehearsal, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { calculate } from 'adjutant/tools';
import { describe, expect, test } from 'vitest';
import { startChatServer } from './chat-server.ts';
import { expectedNumbers, goal, invoicesPath, readInvoices } from './invoices.ts';
import { bench, jsonLines } from './run-cli.ts';

describe('the invoices of the workspace', () => {
  test('are added up, and the ledger shows how', async () => {
    const { run, store } = bench();
    const { code, stdout, stderr } = await run([goal]);
    const { total, share } = expectedNumbers(readInvoices());
    expect(stdout).toContain(`is ${total}.`);
    expect(stdout).toContain(`15% of ${total} is ${share}.`);
    expect(stdout).toMatch(/✓ queryCsv .*\n {2}→ .*\n(.*\n)*✓ calculate /);
    expect(stderr).toMatch(/^adjutant: No model is set up: the rehearsal model answers .*\n$/);
    expect(code).toBe(0);
    expect(statSync(dirname(store)).mode & 0o777).toBe(0o700);
    const session = /session (session_\w+)$/m.exec(stdout)?.[1] as string;

    const events = jsonLines((await run(['show', session, '--events', '--json'])).stdout);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set([
        'state_change',
        'user',
        'invocation_start',
        'model_start',
        'tool_call',
        'model_end',
        'tool_attempt',
        'tool_result',
        'assistant',
        'invocation_end',
      ]),
    );
    const roundsWithTools = events
      .filter(({ type }) => type === 'tool_call')
      .map(({ round }) => round);
    expect(new Set(roundsWithTools).size).toBeGreaterThanOrEqual(2);

    const shown = await run(['show']);
    expect(shown.stdout).toContain(`user\n${goal}`);
    expect(shown.stdout).toContain(`15% of ${total} is ${share}.`);
    const tree = await run(['show', session, '--tree']);
    expect(tree.stdout).toMatch(
      /● assistant agent completed .*\n {2}◆ rehearsal:rules round 1 .*\n {2}✓ queryCsv/,
    );
    const listed = await run(['sessions']);
    expect(listed.stdout).toMatch(
      new RegExp(`…${session.slice(-6)} +completed +${events.length} .*Add up the unpaid`),
    );
  });

  test('give another number when the file is another', async () => {
    const { run, folder } = bench();
    const changed =
      `${readInvoices().replace(/,[\d.]+,EUR,unpaid,/, ',20123.45,EUR,unpaid,')}INV-2051,Pico ` +
      `Robotics,0.07,EUR,unpaid,2026-10-08,2026-11-07\n`;
    mkdirSync(join(folder, dirname(invoicesPath)), { recursive: true });
    writeFileSync(join(folder, invoicesPath), changed);
    const { total, share } = expectedNumbers(changed);
    expect(total).not.toBe(expectedNumbers(readInvoices()).total);
    const { code, stdout } = await run([goal], { cwd: folder });
    expect(stdout).toContain(`15% of ${total} is ${share}.`);
    expect(code).toBe(0);
  });

  test('are added up by a model behind the OpenAI streaming protocol', async () => {
    const { run } = bench();
    const server = await startChatServer();
    const { code, stdout, stderr } = await run(['--model', server.modelName, goal]);
    const { total, share } = expectedNumbers(readInvoices());
    expect(stdout).toContain(`The unpaid invoices come to ${total}; 15% of that is ${share}.\n`);
    expect(stdout).toContain('3 rounds · 2 tool calls · 300 input + 60 output tokens');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(server.requests).toHaveLength(3);
    expect(server.requests[0]?.tools?.map((tool) => tool.function.name).sort()).toEqual([
      'calculate',
      'currentTime',
      'fetchUrl',
      'listFiles',
      'queryCsv',
      'readFile',
      'readToolResult',
      'searchFiles',
    ]);
    const prompt = await run(['show', '--prompt', '3', '--json']);
    const [recorded] = jsonLines(prompt.stdout) as [
      { prompt: { role: string; content: unknown }[] },
    ];
    expect(recorded.prompt.map(({ role }) => role)).toEqual(
      server.requests[2]?.messages.map(({ role }) => role),
    );
    expect(recorded.prompt[0]?.content).toBe(server.requests[2]?.messages[0]?.content);
  });
});

test('--json gives every event in order and then the result', async () => {
  const { run } = bench();
  const { code, stdout } = await run(['run', '--json', '--session', 'sum', 'What is 12 * 12?']);
  const lines = jsonLines(stdout);
  expect(lines.at(-1)).toMatchObject({
    type: 'result',
    status: 'completed',
    session: 'sum',
    rounds: 2,
    output: expect.stringContaining('144'),
  });
  const durable = lines.filter(({ seq }) => seq !== undefined);
  expect(durable.map(({ seq }) => seq)).toEqual(durable.map((_, index) => index + 1));
  expect(lines.some(({ type }) => type === 'assistant_delta')).toBe(true);
  expect(durable).toEqual(jsonLines((await run(['show', 'sum', '--json', '--events'])).stdout));
  expect(code).toBe(0);
});

test('chat keeps to one session, line by line', async () => {
  const { run } = bench();
  const { code, stdout } = await run(['chat', '--session', 'talk'], {
    input: 'What is 6 * 7?\n\nWhat is 10% of that?\n/exit\nWhat is 1 + 1?\n',
  });
  expect(stdout).toContain('6 * 7 = 42.');
  expect(stdout).toContain('10% of 42 is 4.2.');
  expect(stdout).not.toContain('1 + 1');
  expect(code).toBe(0);
  const [session] = jsonLines((await run(['sessions', '--json'])).stdout);
  expect(session).toMatchObject({ id: 'talk', status: 'completed', title: 'What is 6 * 7?' });
});

test('--session goes on in a session, --store chooses the file, --root the folder', async () => {
  const { run, folder } = bench();
  const store = join(folder, 'own.db');
  mkdirSync(join(folder, 'files'));
  writeFileSync(join(folder, 'files', 'plan.md'), 'Water the plants.\n');
  const options = ['--store', store, '--root', join(folder, 'files'), '--session', 'plans'];
  expect((await run(['Read plan.md', ...options])).stdout).toContain('Water the plants.');
  expect((await run(['Read ../own.db', ...options])).stdout).toMatch(/✗ readFile/);
  const { stdout } = await run(['show', 'plans', '--store', store, '--json']);
  expect(jsonLines(stdout).filter(({ kind }) => kind === 'user')).toHaveLength(2);
  expect((await run(['sessions'])).stdout).toContain('There are no sessions yet');
});

test('--app chooses whose sessions of a store are meant', async () => {
  const { run, folder } = bench();
  const store = join(folder, 'office.db');
  const office = runtime({ app: 'office', store: sqlite(store) });
  await office.run(agent({ name: 'clerk', model: rehearsal(), tools: [calculate()] }), {
    session: 'monday',
    input: 'What is 6 * 7?',
  });
  await office.close();
  const options = ['--store', store, '--app', 'office'];
  expect(jsonLines((await run(['sessions', '--json', ...options])).stdout)).toMatchObject([
    { id: 'monday' },
  ]);
  expect((await run(['show', ...options])).stdout).toContain('6 * 7 = 42.');
  expect((await run(['--session', 'tuesday', 'What is 10% of 50?', ...options])).code).toBe(0);
  expect(
    jsonLines((await run(['sessions', '--json', ...options])).stdout).map(({ id }) => id),
  ).toEqual(['tuesday', 'monday']);

  const nothing =
    'There are no sessions of the app "adjutant" in this store. --app names another one.';
  expect(await run(['sessions', '--store', store])).toMatchObject({
    code: 0,
    stdout: `${nothing}\n`,
  });
  expect(await run(['show', '--store', store])).toMatchObject({
    code: 2,
    stderr: `adjutant: ${nothing}\n`,
  });
  for (const command of ['show', 'resume']) {
    const { code, stderr } = await run([command, 'monday', '--store', store, '--app', 'shop']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no session "monday" of the app "shop".'),
    });
  }
});

test('--at shows a ledger as it was', async () => {
  const { run } = bench();
  await run(['--session', 'past', 'What is 2 + 3?']);
  const early = await run(['show', 'past', '--at', '2', '--transcript']);
  expect(early.stdout).toContain('the first 2 of');
  expect(early.stdout).toContain('What is 2 + 3?');
  expect(early.stdout).not.toContain('calculate');
  expect(
    jsonLines((await run(['show', 'past', '--at', '0', '--events', '--json'])).stdout),
  ).toEqual([]);
});

test('without arguments and without a terminal there is a tour', async () => {
  const { run } = bench();
  const { code, stdout } = await run([]);
  expect(stdout).toContain('adjutant resume [session]');
  expect(stdout).toContain('OPENAI_API_KEY');
  expect(code).toBe(0);
});

test.each([['--help'], ['help'], ['show', '--help'], ['--version']])(
  '%s answers on stdout',
  async (...args) => {
    const { run } = bench();
    const { code, stdout, stderr } = await run(args);
    expect(stdout).toMatch(args[0] === '--version' ? /^\d+\.\d+\.\d+\n$/ : /^Usage: adjutant/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  },
);

test('what a model and a file say cannot command the terminal', async () => {
  const { run, folder } = bench();
  const hostile = 'before \x1b]0;owned\x07\x1b[31mred\x1b[0m \x1b[2J\u202etxt \x9b5mafter';
  writeFileSync(join(folder, 'hostile.txt'), hostile);
  const server = await startChatServer(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { text: `It says: ${hostile}` }
      : { call: { name: 'readFile', args: { path: 'hostile.txt' } } },
  );
  const result = await run(
    ['--model', server.modelName, '--session', 'hostile', `Read it ${hostile}`],
    { cwd: folder },
  );
  expect(result.code).toBe(0);
  expect(result.stdout).toContain(String.raw`It says: before \u001b]0;owned\u0007\u001b[31mred`);
  const views = await Promise.all(
    [['show'], ['show', '--events'], ['show', '--tree'], ['sessions']].map((args) => run(args)),
  );
  for (const { stdout, stderr } of [result, ...views])
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
});
