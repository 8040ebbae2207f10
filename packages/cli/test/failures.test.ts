import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startChatServer } from './chat-server.ts';
import { bench, jsonLines } from './run-cli.ts';

/** A user without rights; only root can become it. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

describe('a command line that cannot be understood', () => {
  test.concurrent.for<[string[], string]>([
    [['--modle', 'x', 'Say hello'], "unknown option '--modle' (Did you mean --model?)"],
    [['run', 'Say hello', '--sesion', 'x'], "unknown option '--sesion' (Did you mean --session?)"],
    [['sesions'], "unknown command 'sesions' (Did you mean sessions?)"],
    [['frobnicate', 'all'], "unknown command 'frobnicate'"],
    [['run'], 'The goal is missing.'],
    [['run', '  '], 'The goal is missing.'],
    [[''], 'The goal is missing.'],
    [['--json'], 'The goal is missing.'],
    [['--store', 'x.db', 'sessions'], '"sessions" is a command: write it first'],
    [['run', '--model'], "option '--model <name>' argument missing"],
    [['sessions', 'all'], 'too many arguments'],
    [['sessions', '--limit', '0'], 'It must be 1 or more.'],
    [['show', '--at', 'x'], 'It must be a whole number.'],
    [['show', '--events', '--tree'], "option '--events' cannot be used with option '--tree'"],
    [['show', '--type', 'user', '--tree'], "option '--type <types>' cannot be used with"],
    [['show', '--text', 'x', '--follow'], "option '--text <text>' cannot be used with"],
    [['show', '--from', 'yesterday'], 'It must be a time such as 2026-01-31T12:00:00Z'],
    [['show', '--agent', ' '], 'It is empty.'],
    [['run', '--session', 'a\u0007b', 'Say hello'], 'A session id has 1 to 200 characters'],
    [['sessions', '--app', ' '], 'The name of an app is not empty'],
    [
      ['--model', 'openai-compatible:m@http://user:pa55word@host/v1', 'Say hello'],
      '"openai-compatible:m@…@host/v1" does not name a model',
    ],
    [['--root', '/does/not/exist', 'Say hello'], '/does/not/exist is not a folder.'],
    [['--model', 'gpt-5-mini', 'Say hello'], 'Did you mean "openai:gpt-5-mini"?'],
    [['--model', 'opnai:gpt-5', 'Say hello'], 'Did you mean "openai:gpt-5"?'],
    [
      ['--model', 'openai:gpt-5-mini', 'Say hello'],
      'Set OPENAI_API_KEY or OPENAI_EU_API_KEY or AZURE_OPENAI_ENDPOINT with ' +
        'AZURE_OPENAI_API_KEY in the environment',
    ],
    [['show'], 'There are no sessions yet.'],
    [['show', 'nobody-knows-it', '--store', 'missing.db'], 'missing.db does not exist.'],
    [['sessions', '--store', 'postgres://root:secret@localhost/x'], 'adjutant.config.ts'],
    [['resume', 'nobody-knows-it'], 'There are no sessions yet.'],
  ])('%j', async ([args, message], { expect, onTestFinished }) => {
    const { run, store } = bench(onTestFinished);
    const { code, stderr, stdout } = await run(args);
    expect(stderr, `exit code ${code}`).toContain(message);
    expect(stderr).toMatch(/^adjutant: .*\n$/);
    if (!args.includes('--json')) expect(stdout).toBe('');
    expect(code).toBe(2);
    expect(existsSync(store)).toBe(false);
  });

  test('with --json the error is a line of JSON, too', async () => {
    const { run } = bench();
    const missingKey = await run(['--json', '--model', 'claude:claude-sonnet-4-5', 'Say hello']);
    expect(jsonLines(missingKey.stdout)).toEqual([
      { type: 'error', error: expect.objectContaining({ code: 'missing_key' }) },
    ]);
    const unknownFlag = await run(['--json', '--nonsense', 'Say hello']);
    expect(jsonLines(unknownFlag.stdout)).toEqual([
      { type: 'error', error: expect.objectContaining({ code: 'usage' }) },
    ]);
  });

  test('a provider package that is not installed is named', async () => {
    const { start } = bench();
    const preload = fileURLToPath(new URL('fixtures/without-anthropic.mjs', import.meta.url));
    const { code, stderr } = await start(['--model', 'claude:claude-sonnet-4-5', 'Say hello'], {
      env: { ANTHROPIC_API_KEY: 'not-a-real-key' },
      nodeArguments: ['--import', preload],
    }).finished;
    expect(stderr).toContain('npm install @ai-sdk/anthropic');
    expect(code).toBe(2);
  });
});

test('a session that does not exist cannot be shown or resumed', async () => {
  const { run } = bench();
  await run(['--session', 'known', 'What is 2 + 2?']);
  for (const command of ['show', 'resume']) {
    const { code, stderr } = await run([
      command,
      'unknown',
      ...(command === 'resume' ? ['--model', 'rehearsal'] : []),
    ]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'adjutant: There is no session "unknown" of the app "adjutant". adjutant sessions ' +
        'lists those that there are, --app names another app.\n',
    });
  }
  expect(jsonLines((await run(['sessions', '--json'])).stdout)).toHaveLength(1);
  const beyond = await run(['show', 'known', '--at', '999']);
  expect(beyond).toMatchObject({ code: 2, stderr: expect.stringContaining('has only') });
  const noCall = await run(['show', 'known', '--prompt', '9']);
  expect(noCall).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there are 2 model calls'),
  });
});

test('a session with an event that cannot be read is refused, and shown as events', async ({
  onTestFinished,
}) => {
  const { run, store } = bench(onTestFinished);
  expect((await run(['run', 'What is 17 * 23?', '--session', 'damaged'])).code).toBe(0);
  const database = new DatabaseSync(store);
  expect(database.prepare("update events set body = 'x' where seq = 3").run().changes).toBe(1);
  database.close();
  const refused = await run(['show', 'damaged']);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('Event 3 of session "damaged" cannot be read');
  const shown = await run(['show', 'damaged', '--events']);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/^damaged · cannot be opened/);
  expect(shown.stdout).toMatch(/^ +2 .* user .*17 \* 23/m);
  expect(shown.stdout).toMatch(/^ +3 .* unreadable .*its text is damaged/m);
  expect(shown.stdout).toMatch(/invocation_end/);
  const lines = jsonLines(
    (await run(['show', 'damaged', '--events', '--json', '--at', '3'])).stdout,
  );
  expect(lines).toMatchObject([
    { seq: 1, type: 'state_change' },
    { seq: 2, type: 'user' },
    { seq: 3, type: 'unreadable' },
  ]);
  const chosen = jsonLines(
    (await run(['show', 'damaged', '--type', 'unreadable', '--json'])).stdout,
  );
  expect(chosen).toMatchObject([{ seq: 3, type: 'unreadable' }]);
});

test('a run that has ended cannot be resumed', async () => {
  const { run } = bench();
  await run(['--session', 'done', 'What is 2 + 2?']);
  const before = (await run(['show', 'done', '--events'])).stdout;
  const { code, stderr } = await run(['resume', 'done', '--model', 'rehearsal']);
  expect(stderr).toContain(
    'Session "done" has no run to continue. To go on with it: adjutant run \'…\' --session ' +
      'done --model rehearsal',
  );
  expect(code).toBe(2);
  expect((await run(['show', 'done', '--events'])).stdout).toBe(before);
});

test('a file that is missing is an answer, not a failure', async () => {
  const { run } = bench();
  const { code, stdout } = await run([
    'Add up the unpaid invoices in nowhere.csv and tell me 15% of the total',
  ]);
  expect(stdout).toMatch(/✗ queryCsv .*\n {2}→ error_permanent: There is no "nowhere.csv"/);
  expect(stdout).toMatch(/I could not .*nowhere\.csv/);
  expect(stdout).not.toMatch(/15% of \d/);
  expect(code).toBe(0);
});

describe('a model', () => {
  test('that cannot be reached makes the run fail, and the ledger says so', async () => {
    const { run } = bench();
    const { code, stderr } = await run([
      '--model',
      'openai-compatible:m@http://127.0.0.1:1/v1',
      '--session',
      'lost',
      'Say hello',
    ]);
    expect(stderr).toMatch(/adjutant: The run failed: .*could not be reached/);
    expect(code).toBe(1);
    expect((await run(['show', 'lost'])).stdout).toMatch(
      /! assistant: error – .*could not be reached/,
    );
    expect(jsonLines((await run(['sessions', '--json'])).stdout)).toMatchObject([
      { id: 'lost', status: 'error' },
    ]);
  });

  test('that returns nothing makes the run fail', async () => {
    const { run } = bench();
    const server = await startChatServer(() => ({ text: '' }));
    const { stderr, code } = await run(['--model', server.modelName, 'Say hello']);
    expect(stderr).toMatch(/adjutant: The run failed: .*the answer was empty/);
    expect(code).toBe(1);
  });
});

describe('a store that cannot be used', () => {
  const runWith = (store: string, options = {}) => [
    'run',
    '--store',
    store,
    '--model',
    'rehearsal',
    ...Object.values(options).map(String),
    'What is 2 + 2?',
  ];

  test.each([
    ['a directory', (path: string) => mkdirSync(path), 'it is a directory, not a file'],
    [
      'not a database',
      (path: string) => writeFileSync(path, 'id,customer\n1,Northwind\n'.repeat(100)),
      'it is not a SQLite database',
    ],
    [
      'the database of another program',
      makeForeignDatabase,
      'it is a SQLite database of another application',
    ],
  ])('%s', async (_, make, reason) => {
    const { run, folder } = bench();
    const path = join(folder, 'store.db');
    make(path);
    for (const args of [
      runWith(path),
      ['sessions', '--store', path],
      ['show', 'x', '--store', path],
    ]) {
      const { code, stderr } = await run(args);
      expect(stderr).toContain(`adjutant: The store ${path} cannot be used: ${reason}`);
      expect(code).toBe(1);
    }
  });

  test('in a folder that does not exist', async () => {
    const { run, folder } = bench();
    const { code, stderr } = await run(runWith(join(folder, 'no', 'store.db')));
    expect(stderr).toContain('does not exist; create it first');
    expect(code).toBe(1);
  });

  test.skipIf(process.platform === 'win32')('without permission', async () => {
    const { run, start, folder } = bench();
    const store = join(folder, 'store.db');
    await run(runWith(store));
    chmodSync(store, 0);
    chmodSync(folder, 0o755);
    const asOther = isRoot ? { uid: nobody } : {};
    const { code, stderr } = await start(runWith(store), asOther).finished;
    expect(stderr).toMatch(/^adjutant: The store .*store\.db cannot be used: .*permission/);
    expect(code).toBe(1);
    chmodSync(folder, 0o500);
    const noFolder = await start(['--model', 'rehearsal', 'What is 2 + 2?'], asOther).finished;
    expect(noFolder.stderr).toMatch(
      /^adjutant: The store .* cannot be used: its folder cannot be made .* set ADJUTANT_HOME or use --store/,
    );
    expect(noFolder.code).toBe(1);
  });

  test('written by a newer version', async () => {
    const { run, folder } = bench();
    const store = join(folder, 'store.db');
    await run(runWith(store));
    const database = new DatabaseSync(store);
    database.exec('pragma user_version = 999');
    database.close();
    const { code, stderr } = await run(runWith(store));
    expect(stderr).toMatch(
      /^adjutant: The store .* has schema version 999; .* Upgrade Adjutant to open it\.\n$/,
    );
    expect(code).toBe(1);
  });

  test('locked by another process', async () => {
    const { run, folder } = bench();
    const store = join(folder, 'store.db');
    await run([...runWith(store), '--session', 'before']);
    const database = new DatabaseSync(store);
    onTestFinished(() => database.close());
    database.exec('begin exclusive');
    const { code, stderr } = await run([...runWith(store), '--session', 'during']);
    expect(stderr).toMatch(
      /^adjutant: The store .* cannot be used: another process has kept it locked for longer than 5 s/,
    );
    expect(code).toBe(1);
    database.exec('rollback');
    expect(
      jsonLines((await run(['sessions', '--store', store, '--json'])).stdout).map(({ id }) => id),
    ).toEqual(['before']);
    expect((await run([...runWith(store), '--session', 'during'])).code).toBe(0);
  });
});

function makeForeignDatabase(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('create table songs (title text)');
  database.close();
}
