import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { agent, runtime, type StreamEvent, tool } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ChatServer, startChatServer } from './chat-server.ts';
import { expectedNumbers, goal, readInvoices } from './invoices.ts';
import { type Bench, bench, jsonLines, type RunningCli } from './run-cli.ts';

const { total, share } = expectedNumbers(readInvoices());
const answer = `The unpaid invoices come to ${total}; 15% of that is ${share}.`;

/** A run that waits for the answer to its second model call, with everything before it durable. */
async function startWaitingRun({
  start,
  store,
}: Bench): Promise<{ server: ChatServer; running: RunningCli }> {
  const server = await startChatServer();
  server.hangFrom = 2;
  const running = start(['run', '--session', 'work', '--model', server.modelName, goal]);
  await server.reached(2);
  const ledgers = sqlite(store, { clock: systemClock });
  try {
    for await (const event of ledgers
      .for({ tenant: 'default', app: 'adjutant' })
      .follow('work', 0, AbortSignal.timeout(100_000))) {
      if (event.type === 'model_start' && event.round === 2) return { server, running };
    }
  } finally {
    await ledgers.close();
  }
  throw new Error('The second model call did not become durable');
}

/** The program as the tests start it, and as it is to be typed again. */
const program = 'node packages/cli/dist/main.js';

/** The words of a command that was printed for a shell, without the program. */
function wordsOf(command: string): string[] {
  expect(command.startsWith(`${program} `)).toBe(true);
  return command.slice(program.length + 1).split(' ');
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s stops a run and prints the command that continues it', async (signal, exitCode) => {
  const place = bench();
  const { server, running } = await startWaitingRun(place);
  running.child.kill(signal);
  const stopped = await running.finished;
  expect(stopped).toMatchObject({ code: exitCode, signal: null, stderr: '' });
  const command = /^Stopped\. Continue with: (node .* resume work .*)$/m.exec(
    stopped.stdout,
  )?.[1] as string;
  expect(command).toContain(`--model ${server.modelName}`);
  await server.givenUp;

  server.hangFrom = undefined;
  const resumed = await place.run(wordsOf(command));
  expect(resumed).toMatchObject({ code: 0, stderr: '' });
  expect(resumed.stdout).toContain(answer);
  const calls = jsonLines((await place.run(['show', 'work', '--events', '--json'])).stdout).filter(
    ({ type }) => type === 'tool_call',
  );
  expect(calls.map(({ name }) => name)).toEqual(['queryCsv', 'calculate']);
});

test('a run that was stopped with --json ends with a line that says so', async () => {
  const { start } = bench();
  const server = await startChatServer();
  server.hangFrom = 1;
  const running = start(['run', '--json', '--session', 'work', '--model', server.modelName, goal]);
  await server.reached(1);
  running.child.kill('SIGINT');
  const { stdout, code } = await running.finished;
  expect(jsonLines(stdout).at(-1)).toEqual({
    type: 'stopped',
    session: 'work',
    continue: `${program} resume work --model ${server.modelName}`,
  });
  expect(code).toBe(130);
});

test('the command that continues a run names its app', async () => {
  const { start } = bench();
  const server = await startChatServer();
  server.hangFrom = 1;
  const running = start([
    'run',
    '--json',
    '--app',
    'office',
    '--session',
    'work',
    '--model',
    server.modelName,
    goal,
  ]);
  await server.reached(1);
  running.child.kill('SIGINT');
  const { stdout } = await running.finished;
  expect(jsonLines(stdout).at(-1)).toMatchObject({
    continue: `${program} resume work --model ${server.modelName} --app office`,
  });
});

test('a second Ctrl-C ends the process at once', async () => {
  const place = bench();
  const { server, running } = await startWaitingRun(place);
  const database = new DatabaseSync(place.store);
  onTestFinished(() => database.close());
  // The run cannot give its session back while the store is locked.
  database.exec('begin exclusive');
  running.child.kill('SIGINT');
  await server.givenUp;
  running.child.kill('SIGINT');
  const { signal, stdout } = await running.finished;
  expect(signal).toBe('SIGINT');
  expect(stdout).not.toContain('Stopped.');
});

describe('a run that was killed', () => {
  test('can be shown, and goes on where it was', async () => {
    const place = bench();
    const { server, running } = await startWaitingRun(place);
    running.child.kill('SIGKILL');
    expect(await running.finished).toMatchObject({ code: null, signal: 'SIGKILL' });

    const shown = await place.run(['show', 'work']);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain(goal);
    expect(shown.stdout).toContain('✓ queryCsv');
    expect((await place.run(['show', 'work', '--tree'])).stdout).toContain(
      '○ assistant agent open',
    );
    const before = jsonLines((await place.run(['show', 'work', '--events', '--json'])).stdout);

    server.hangFrom = undefined;
    const resumed = await place.run(['resume', 'work', '--model', server.modelName]);
    expect(resumed).toMatchObject({ code: 0, stderr: '' });
    expect(resumed.stdout).toContain(answer);
    const after = jsonLines((await place.run(['show', 'work', '--events', '--json'])).stdout);
    expect(after.slice(0, before.length)).toEqual(before);
    const count = (type: string): number => after.filter((event) => event['type'] === type).length;
    expect({
      calls: count('tool_call'),
      attempts: count('tool_attempt'),
      ends: count('invocation_end'),
    }).toEqual({ calls: 2, attempts: 2, ends: 1 });
    expect(after).toContainEqual(
      expect.objectContaining({ type: 'model_end', status: 'interrupted', estimated: true }),
    );
    expect(server.requests).toHaveLength(4);
  });

  test('goes on with another model, which is said', async () => {
    const place = bench();
    const { running } = await startWaitingRun(place);
    running.child.kill('SIGKILL');
    await running.finished;
    const resumed = await place.run(['resume', 'work', '--model', 'rehearsal']);
    expect(resumed.stderr).toContain(
      'This session used the model openai-compatible:accountant; it goes on with rehearsal:rules.',
    );
    expect(resumed.stdout).toContain(`15% of ${total} is ${share}.`);
    expect(resumed.code).toBe(0);
  });
});

describe('a session that another live process runs', () => {
  test('is gone with: the goal reaches it, and what it does is shown', async () => {
    const place = bench();
    const { server, running } = await startWaitingRun(place);
    const resumed = place.start(['resume', 'work', '--model', server.modelName]);
    const second = place.start([
      'run',
      '--session',
      'work',
      '--model',
      server.modelName,
      'And the customers?',
    ]);
    await Promise.all(
      [resumed, second].map(
        ({ child }) => new Promise((resolve) => child.stderr?.once('data', resolve)),
      ),
    );
    expect((await place.run(['show', 'work'])).code).toBe(0);
    // The process that has the session is the only one that works on it.
    running.child.kill('SIGINT');
    await running.finished;
    server.hangFrom = undefined;
    for (const { finished } of [resumed, second]) {
      const { code, stdout, stderr } = await finished;
      expect(stderr).toContain(`adjutant: Process ${running.child.pid} works on session "work".`);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(answer) });
    }
    const events = jsonLines((await place.run(['show', 'work', '--events', '--json'])).stdout);
    expect(events.filter(({ type }) => type === 'user').map(({ text }) => text)).toEqual([
      goal,
      'And the customers?',
    ]);
    expect(events.filter(({ type }) => type === 'tool_call').map(({ name }) => name)).toEqual([
      'queryCsv',
      'calculate',
    ]);
  });

  test('is cancelled there', async () => {
    const place = bench();
    const { server, running } = await startWaitingRun(place);
    const { code, stdout } = await place.run([
      'cancel',
      'work',
      '--reason',
      'The numbers have changed',
    ]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Process ${running.child.pid} works on session "work" and cancels it.\n`,
    });
    await server.givenUp;
    const ended = await running.finished;
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The run was cancelled.'),
    });
    const events = jsonLines((await place.run(['show', 'work', '--events', '--json'])).stdout);
    expect(events.filter(({ type }) => type === 'cancel')).toMatchObject([
      { by: 'user', reason: 'The numbers have changed' },
    ]);
  });

  test('takes an answer in from another terminal', async () => {
    const place = bench();
    mkdirSync(dirname(place.store));
    const app = runtime({ app: 'adjutant', store: sqlite(place.store), recover: 'manual' });
    onTestFinished(() => app.close());
    const working = Promise.withResolvers<string>();
    const answered = Promise.withResolvers<void>();
    const calculate = tool({
      name: 'calculate',
      description: 'Calculates',
      schema: { type: 'object' },
      approval: true,
      execute: () => 4,
    });
    const slow = tool({
      name: 'slow',
      description: 'Takes its time',
      schema: { type: 'object' },
      execute: () => answered.promise.then(() => 'done'),
    });
    const clerk = agent({
      name: 'assistant',
      model: scriptedModel([
        { toolCalls: [{ name: 'calculate' }, { name: 'slow' }] },
        { text: 'All done.' },
      ]),
      tools: [calculate, slow],
    });
    const onStream = (event: StreamEvent): void => {
      if (event.type === 'tool_yield') working.resolve(event.requestId);
      if (event.type === 'tool_result' && event.name === 'calculate') answered.resolve();
    };
    const run = app.run(clerk, { session: 'work', input: 'Go', onStream });
    const approved = await place.run(['approve', await working.promise, '--model', 'rehearsal']);
    expect(approved).toMatchObject({ code: 0, stdout: 'Approved: calculate({})\n' });
    expect(approved.stderr).toBe(
      `adjutant: Process ${process.pid} works on session "work" and takes the answer in.\n`,
    );
    expect(await run).toMatchObject({ status: 'completed', output: 'All done.' });
  });
});
