import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../in-process.ts';
import { bench, jsonLines } from '../run-cli.ts';

const deskFolder = join(import.meta.dirname, '../fixtures/desk');

interface Desk {
  readonly folder: string;
  readonly home: string;
  /** Runs a command in the folder of the user's app. */
  run(args: readonly string[], cwd?: string): Promise<Outcome>;
}

function desk(agents = 'coder'): Desk {
  const { folder, run, store } = bench();
  const env = { DESK_AGENTS: agents, DESK_STORE: join(folder, 'desk.db') };
  return {
    folder,
    home: store,
    run: (args, cwd = deskFolder) => run(args, { cwd, env }),
  };
}

const requestIn = ({ stdout }: Outcome): string => /approve (req_\w+)/.exec(stdout)?.[1] as string;

describe('the app of adjutant.config.ts', () => {
  test('is run, says who answers, asks, and goes on here when it is answered', async () => {
    const { run, home } = desk();
    const asked = await run(['run', 'Edit it', '--session', 'work']);
    expect(asked.code).toBe(3);
    expect(asked.stderr).toBe('adjutant: app desk, agent coder (adjutant.config.ts)\n');
    const request = requestIn(asked);
    // The commands that are printed need no word about the store: the configuration says it.
    expect(asked.stdout).toContain(`  adjutant approve ${request}\n`);
    expect((await run(['show'])).stdout).toContain(`  adjutant approve ${request}\n`);
    expect((await run(['approvals'])).stdout).toMatch(
      new RegExp(`^${request} +work +approval`, 'm'),
    );

    const approved = await run(['approve', request]);
    expect(approved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The coder is done.') as string,
      stderr: 'adjutant: app desk, agent coder (adjutant.config.ts)\n',
    });
    expect(existsSync(home)).toBe(false);
  });

  test.each(['reject', 'edit'])('goes on after %s', async (answer) => {
    const { run } = desk();
    const request = requestIn(await run(['run', 'Edit it']));
    const more = answer === 'edit' ? ['{"path":"b.ts"}'] : [];
    const { code, stdout } = await run([answer, request, ...more]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The coder is done.') as string,
    });
  });

  test('goes on by resume, is forked, cancelled and deleted', async () => {
    const { run } = desk();
    const request = requestIn(await run(['run', 'Edit it', '--session', 'work']));
    const posted = await run(['approve', request, '--no-continue']);
    expect(posted.stderr).toContain('The run goes on with: adjutant resume work\n');
    expect((await run(['resume', 'work'])).stdout).toContain('The coder is done.');
    expect(await run(['resume', 'work'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no run to continue. To go on with it: adjutant run'),
    });
    expect(await run(['fork', 'work', '--at', '4', '--id', 'other'])).toMatchObject({ code: 0 });
    expect(await run(['cancel', 'other'])).toMatchObject({
      code: 0,
      stdout: 'The run of session "other" is cancelled.\n',
    });
    expect((await run(['delete', 'other'])).code).toBe(0);
    const listed = jsonLines((await run(['sessions', '--json'])).stdout);
    expect(listed).toMatchObject([{ id: 'work', runnable: 'coder', status: 'completed' }]);
  });

  test('talks', async () => {
    const { folder, run } = bench();
    const { code, stdout, stderr } = await run(['chat', '--session', 'talk'], {
      cwd: deskFolder,
      env: { DESK_AGENTS: 'support', DESK_STORE: join(folder, 'desk.db') },
      input: 'Hello\n',
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Support here.') as string,
      stderr: 'adjutant: app desk, agent support (adjutant.config.ts)\n',
    });
  });

  test('is found from a folder below it, and left out with --no-config', async () => {
    const { run, home } = desk('support');
    const below = join(deskFolder, 'src');
    expect((await run(['run', 'Hello', '--session', 'talk'], below)).stdout).toContain('Support');
    expect((await run(['sessions'], below)).stdout).toMatch(/^talk /m);
    const built = await run(['run', 'What is 2 + 2?', '--no-config', '--session', 'sum'], below);
    expect(built.stdout).toContain('2 + 2 = 4.');
    expect((await run(['sessions', '--no-config'], below)).stdout).toMatch(/^sum /m);
    expect(existsSync(home)).toBe(true);
  });

  test('keeps its store beside itself, from wherever it is used', async () => {
    const { folder, start } = bench();
    const below = join(folder, 'src/deep');
    mkdirSync(below, { recursive: true });
    writeFileSync(
      join(folder, 'adjutant.config.ts'),
      `export { app } from '${deskFolder}/adjutant.config.ts';\n`,
    );
    const env = { DESK_AGENTS: 'support' };
    const ran = await start(['run', 'Hello'], { cwd: below, env }).finished;
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('Support here.') });
    expect(existsSync(join(folder, 'desk.db'))).toBe(true);
    expect(existsSync(join(below, 'desk.db'))).toBe(false);
  });

  test.for<[string[], string]>([
    [['run', 'Hello', '--store', 'x.db'], '--store is for the agent of the command line'],
    [['run', 'Hello', '--model', 'rehearsal'], '--model is for the agent of the command line'],
    [['run', 'Hello', '--app', 'other'], '--app is for the agent of the command line'],
    [['chat', '--ask-before', 'edit'], '--ask-before is for the agent of the command line'],
    [['resume', 'work', '--root', '.'], '--root is for the agent of the command line'],
    [['approvals', '--app', 'other'], '--app other: adjutant.config.ts exports the app "desk".'],
    [['resume', 'nobody'], 'There is no session "nobody" of the app "desk".'],
    [['approve', 'req_1'], 'There is no request "req_1".'],
    [['run', 'Hello', '--config', 'gone.ts'], 'gone.ts does not exist.'],
  ])('refuses %j', async ([args, message]) => {
    const { run, home } = desk();
    expect(await run(args)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message) as string,
    });
    expect(existsSync(home)).toBe(false);
  });
});

describe('an app with several agents', () => {
  test('is told which one is meant', async () => {
    const { run } = desk('coder,support,billing');
    expect(await run(['run', 'Hello'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'adjutant: adjutant.config.ts has several agents: coder, support. Name one with ' +
        '--agent.\n',
    });
    expect((await run(['sessions'])).stdout).toContain('There are no sessions of the app "desk"');
    const { stdout } = await run(['run', 'Hello', '--agent', 'support', '--session', 'talk']);
    expect(stdout).toContain('Support here.');
    // The session remembers who answers.
    expect((await run(['run', 'More', '--session', 'talk'])).stderr).toContain('agent support (');
    // A part of another one is run when it is named.
    expect((await run(['run', 'Hello', '--agent', 'billing'])).stdout).toContain('Billing here.');
  });

  test.for<[string, string[], string]>([
    [
      'coder,support',
      ['run', 'Hello', '--agent', 'suport'],
      '--agent suport: adjutant.config.ts has no such agent (did you mean support?). There are ' +
        'coder, support, billing.',
    ],
    ['', ['chat'], 'The app "desk" of adjutant.config.ts has no agents. Register one: runtime('],
    [
      '',
      ['run', 'Hello', '--no-config', '--agent', 'coder'],
      '--agent coder: the command line has no such agent. There are assistant.',
    ],
  ])('refuses with %j: %j', async ([agents, args, message]) => {
    const { run } = desk(agents);
    expect(await run(args)).toMatchObject({ code: 2, stdout: '' });
    expect((await run(args)).stderr).toContain(message);
  });

  test('a run of an agent that the configuration no longer has is refused, unchanged', async () => {
    const first = desk('coder,support');
    const request = requestIn(
      await first.run(['run', 'Edit', '--agent', 'coder', '--session', 'work']),
    );
    const env = { DESK_AGENTS: 'support', DESK_STORE: join(first.folder, 'desk.db') };
    const later = (args: string[]) => bench().run(args, { cwd: deskFolder, env });
    const resumed = await later(['resume', 'work']);
    expect(resumed).toMatchObject({ code: 2, stdout: '' });
    expect(resumed.stderr).toContain('"coder", which adjutant.config.ts does not know.');
    const answered = await later(['approve', request]);
    expect(answered.code).toBe(0);
    expect(answered.stderr).toContain(
      'The run is not continued here: it is a run of "coder", which adjutant.config.ts does not ' +
        'have.',
    );
  });
});
