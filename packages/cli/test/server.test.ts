import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiKeys } from '@adjutant/server';
import { client } from '@adjutant/server/client';
import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { startChatServer } from './chat-server.ts';
import type { Outcome } from './in-process.ts';
import {
  type Bench,
  bench,
  type CommandOptions,
  type Finished,
  jsonLines,
  type RunningCli,
  repositoryRoot,
} from './run-cli.ts';

const waiting = 3;
const shop = join(repositoryRoot, 'packages/cli/test/fixtures/shop');

interface Serving extends RunningCli {
  readonly url: string;
  /** A command on this server. */
  on(args: readonly string[], options?: CommandOptions): Promise<Outcome>;
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

/** The program as the tests start it, and as it is to be typed again. */
const program = 'node packages/cli/dist/main.js';

/** `adjutant serve` on a free port. */
async function serve(
  place: Bench,
  args: readonly string[] = [],
  options: CommandOptions = {},
): Promise<Serving> {
  const running = place.start(
    ['serve', '--json', '--no-dashboard', '--port', '0', ...args],
    options,
  );
  let text = '';
  running.child.stdout?.on('data', (more: string) => (text += more));
  await eventually(() => text.includes('\n') || running.child.exitCode !== null, {
    what: 'the server',
    patienceMs: 100_000,
  });
  const [first] = jsonLines(text);
  expect(first).toMatchObject({ type: 'serving' });
  const { url } = first as { url: string };
  return {
    ...running,
    url,
    on: (words, more) => place.run([...words, '--server', url], more),
    stop: (signal = 'SIGTERM') => {
      running.child.kill(signal);
      return running.finished;
    },
  };
}

/** Of a run that waits, what it asks. */
function requestOf({ code, stdout }: Outcome): string {
  const last = jsonLines(stdout).at(-1) as {
    type: string;
    status: string;
    pendingCalls: { requestId: string }[];
  };
  expect({ code, last }).toMatchObject({
    code: waiting,
    last: { type: 'result', status: 'yielded' },
  });
  return last.pendingCalls[0]?.requestId as string;
}

describe('adjutant serve', () => {
  test('goes on with a run that was answered while nobody served it', async () => {
    const place = bench();
    const first = await serve(place, ['--ask-before', 'calculate']);
    const requestId = requestOf(
      await first.on(['run', 'What is 12 * 12?', '--session', 'sum', '--json']),
    );
    await first.stop('SIGKILL');
    expect((await place.run(['approve', requestId, '--no-continue'])).code).toBe(0);
    const second = await serve(place);
    const { runs } = client({ url: second.url });
    const [run] = (await runs.list('sum').page()).runs;
    expect(await runs.wait('sum', run?.id as string, { until: 'end' })).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('144'),
    });
    expect(await second.stop()).toMatchObject({ code: 0, signal: null });
  });

  test(
    'serves the app of adjutant.config.ts, with the options that it has for ' + 'the server',
    async () => {
      const place = bench();
      const config = join(place.folder, 'adjutant.config.ts');
      writeFileSync(
        config,
        `export { app } from '${shop}/adjutant.config.ts';\nexport const server = { limits: ` +
          `{ bodyBytes: 50 } };\n`,
      );
      const { url, on } = await serve(place, [], {
        cwd: place.folder,
        env: { SHOP_STORE: join(place.folder, 'shop.db') },
      });
      const { code, stdout } = await on(['run', 'Find Ann', '--json']);
      expect({ code, last: jsonLines(stdout).at(-1) }).toMatchObject({
        code: 0,
        last: { status: 'completed', output: 'Found ann.lee@example.com.' },
      });
      const body = JSON.stringify({ agent: 'clerk', input: 'x'.repeat(100) });
      expect(
        (
          await fetch(`${url}/v1/runs`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
        ).status,
      ).toBe(413);
    },
  );

  test('asks for keys as soon as there are some', async () => {
    const place = bench();
    mkdirSync(dirname(place.store), { recursive: true });
    const app = runtime({ app: 'adjutant', store: sqlite(place.store), recover: 'manual' });
    const { credential } = await apiKeys(app).create({ name: 'test', roles: ['operator'] });
    await app.close();
    const { on, finished, stop } = await serve(place);
    expect(await on(['sessions'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Give a key with --key, or in ADJUTANT_KEY.'),
    });
    expect(await on(['sessions', '--key', credential])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('has no sessions yet'),
    });
    const run = await on(['run', 'What is 3 * 4?'], { env: { ADJUTANT_KEY: credential } });
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('3 * 4 = 12.') });
    expect(run.stdout + run.stderr).not.toContain(credential);
    await stop();
    expect((await finished).stdout).not.toContain(credential);
  });

  test.each<[string[], string]>([
    [['--port', '70000'], 'It must be from 0 to 65535.'],
    [
      ['--hostname', '0.0.0.0'],
      'may not listen on 0.0.0.0; give it `auth`, or listen on 127.0.0.1. A key is enough: ' +
        'adjutant keys create',
    ],
    [['--config', 'nothing.ts'], 'nothing.ts does not exist.'],
    [
      ['--config', join(shop, 'adjutant.config.ts'), '--model', 'rehearsal'],
      '--model is for the agent of the command line',
    ],
    [['--ask-before', 'sing'], '--ask-before sing: there is no such tool.'],
  ])('%j is refused', async (args, message) => {
    const { code, stdout, stderr } = await bench().run(['serve', ...args]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });

  test('says that its port is taken', async () => {
    const place = bench();
    const { url } = await serve(place);
    const { code, stderr } = await place.run(['serve', '--port', new URL(url).port]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('another program listens there'),
    });
  });
});

describe('with --server', () => {
  test('commands say what they say of the store below it', async () => {
    const place = bench();
    const { on } = await serve(place, ['--ask-before', 'calculate']);
    const requestId = requestOf(
      await on(['run', 'What is 12 * 12?', '--session', 'sum', '--json']),
    );
    const approved = await on(['approve', requestId, '--reason', 'It is harmless']);
    expect(approved.stdout).toMatch(
      /^Approved: calculate.*\n✓ calculate \{"expression":"12 \* 12"\} .*\n.*144\n12 \* 12 = 144\./,
    );
    expect(approved.code).toBe(0);
    for (const view of [
      ['--events', '--json'],
      ['--events'],
      ['--tree'],
      ['--decisions'],
      ['--prompt', '1'],
      ['--at', '3'],
      ['--json'],
      [],
    ]) {
      const [there, here] = await Promise.all([
        on(['show', 'sum', ...view]),
        place.run(['show', 'sum', ...view]),
      ]);
      expect({ view, ...there }).toEqual({ view, ...here });
    }
    expect(await on(['explain', 'sum'])).toEqual(await place.run(['explain', 'sum']));
    expect(await on(['sessions'])).toEqual(await place.run(['sessions']));
    const [there] = jsonLines((await on(['sessions', '--json'])).stdout);
    expect(jsonLines((await place.run(['sessions', '--json'])).stdout)[0]).toMatchObject(
      there as object,
    );
  });

  test('a run that waits says for what, and is rejected, edited or cancelled there', async () => {
    const place = bench();
    const { on, url } = await serve(place, ['--ask-before', 'calculate']);
    const asked = await on(['run', 'What is 2 * 3?', '--session', 'a']);
    expect(asked.code).toBe(waiting);
    const [request] = jsonLines((await on(['approvals', '--json'])).stdout) as [
      { requestId: string },
    ];
    for (const { stdout } of [asked, await on(['show', 'a'])]) {
      expect(stdout).toContain('? asks for approval: calculate({"expression":"2 * 3"})');
      expect(stdout).toContain(`  adjutant approve ${request.requestId} --server ${url}\n`);
    }
    expect((await on(['approvals'])).stdout).toMatch(
      new RegExp(`^${request.requestId} +a +approval`, 'm'),
    );
    expect(await on(['edit', request.requestId, '{"formula":"1"}'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expression'),
    });
    const edited = await on(['edit', request.requestId, '{"expression":"2 * 5"}']);
    expect(edited).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✓ calculate \{"expression":"2 \* 5"\} .*\n.*result: 10$/m),
    });
    expect(await on(['approve', request.requestId])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('can no longer be answered'),
    });

    const other = requestOf(await on(['run', 'What is 4 * 4?', '--session', 'b', '--json']));
    const rejected = await on(['reject', other, '--reason', 'Not today', '--json']);
    expect(jsonLines(rejected.stdout)[0]).toEqual({
      type: 'answered',
      requestId: other,
      decision: 'reject',
      session: 'b',
      name: 'calculate',
    });
    expect({ code: rejected.code, last: jsonLines(rejected.stdout).at(-1) }).toMatchObject({
      code: 0,
      last: { type: 'result', status: 'completed' },
    });

    await on(['run', 'What is 5 * 5?', '--session', 'c']);
    expect(await on(['cancel', 'c', '--reason', 'Not needed'])).toMatchObject({
      code: 0,
      stdout: 'The run of session "c" is cancelled.\n',
      stderr: '',
    });
    expect(await on(['cancel', 'c'])).toMatchObject({
      code: 2,
      stderr: 'adjutant: Session "c" has no run to cancel.\n',
    });
    expect((await on(['approvals'])).stdout).toBe('Nothing waits for an answer.\n');
  });

  test('Ctrl-C ends the showing and not the run', async () => {
    const place = bench();
    const model = await startChatServer(() => ({ text: 'Here I am.' }));
    model.hangFrom = 1;
    const { url, on } = await serve(place, ['--model', model.modelName]);
    const running = place.start(['run', 'Say something', '--session', 'long', '--server', url]);
    await model.reached(1);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.finished;
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: expect.stringContaining(
        `See it: ${program} show long --server ${url}. End it: ${program} cancel long --server ${url}`,
      ),
    });
    expect((await on(['sessions'])).stdout).toMatch(/^long +active/m);
    expect((await on(['cancel', 'long'])).stdout).toBe('The run of session "long" is cancelled.\n');
  });

  test('what cannot be done is refused as it is locally', async () => {
    const place = bench();
    const { on, url } = await serve(place);
    const refusals: [string[], string][] = [
      [['show', 'nobody'], 'There is no session "nobody"'],
      [['show'], 'has no sessions yet'],
      [['approve', 'req_unknown'], 'req_unknown'],
      [['approve', 'req_unknown', '--by', 'ann'], '--by: a server takes the name'],
      [['run', 'Hi', '--agent', 'asistant'], 'did you mean "assistant"?'],
      [['run', 'Hi', '--model', 'rehearsal'], "cannot be used with option '--model"],
      [['sessions', '--store', place.store], "cannot be used with option '--store"],
      [['cancel', 'nobody'], 'nobody'],
    ];
    for (const [args, message] of refusals) {
      const { code, stdout, stderr } = await on(args);
      expect({ args, code, stdout, stderr }).toEqual({
        args,
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(message),
      });
    }
    expect(await place.run(['run', 'Hi', '--agent', 'sing'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There are assistant.'),
    });
    expect(await place.run(['sessions', '--server', 'ftp://x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('must be an address'),
    });
    const gone = await place.run(['sessions', '--server', url.replace(/\d+$/, '1'), '--json']);
    expect({ code: gone.code, line: jsonLines(gone.stdout)[0] }).toMatchObject({
      code: 1,
      line: { type: 'error', error: { code: 'connection_lost' } },
    });
  });
});
