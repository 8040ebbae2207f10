import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cli } from '@adjutant/cli';
import { agent, isAdjutantError, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startWorld } from '../terminal/kit/world.ts';

const program = fileURLToPath(new URL('../fixtures/library/program.ts', import.meta.url));
const clerk = agent({ name: 'clerk', model: scriptedModel([]) });

/** Runs the program with pipes for its streams. */
async function piped(
  world: string,
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string>> = {},
) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], WORLD: world, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  const outcome = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  return { code, stdout, stderr, outcome };
}

async function worldOfTest() {
  const world = await startWorld();
  onTestFinished(() => world.close());
  return world;
}

test('without a terminal the input is run once, and the answer printed', async () => {
  const world = await worldOfTest();
  world.script({ text: 'It is the rounding.' });
  const { code, stdout, outcome } = await piped(world.address, ['Why?'], 'not read\n');
  expect(code).toBe(0);
  expect(stdout).toContain('It is the rounding.');
  expect(outcome).toMatchObject({ status: 'completed', output: 'It is the rounding.' });
});

test('without an input each line of standard input is a message', async () => {
  const world = await worldOfTest();
  world.script(
    { text: 'First.' },
    { calls: [{ name: 'editFile', args: { path: 'a', oldText: 'b', newText: 'c' } }] },
    { text: 'Done.' },
  );
  world.result('editFile', { done: true });
  const { code, stdout, outcome } = await piped(world.address, [], 'one\ntwo\n/approve\n');
  expect(code).toBe(0);
  expect(stdout).toContain('First.');
  expect(stdout).toContain('? asks for approval');
  expect(stdout).not.toContain('adjutant approve');
  expect(outcome).toMatchObject({ status: 'completed', output: 'Done.', exitCode: 0 });
});

test('a run that waits, and one that fails, have the exit codes of the command line', async () => {
  const world = await worldOfTest();
  world.script({ calls: [{ name: 'sendMail', args: { to: 'a', subject: 'b' } }] });
  const waiting = await piped(world.address, ['Send it'], '');
  expect(waiting).toMatchObject({ code: 3, outcome: { status: 'yielded', exitCode: 3 } });
  world.script({ error: { message: 'No such model', status: 400 } });
  const failed = await piped(world.address, ['Send it'], '');
  expect(failed).toMatchObject({ code: 1, outcome: { status: 'error', exitCode: 1 } });
  expect(failed.stderr).toContain('The run failed');
});

test('a terminal belongs to one call at a time', async () => {
  const world = await worldOfTest();
  world.script({ text: 'First.' }, { text: 'Second.' });
  const { outcome, stderr } = await piped(world.address, ['Why?'], '', { TWICE: 'yes' });
  expect(stderr).toContain('terminal_in_use: cli() is open already');
  expect(outcome).toMatchObject({ output: 'Second.' });
});

test('the package loads neither React nor Ink, nor the commands', async () => {
  const code =
    "import { registerHooks } from 'node:module'; const seen = []; " +
    'registerHooks({ resolve(name, context, next) { ' +
    'seen.push(name); return next(name, context); } }); ' +
    "await import('@adjutant/cli'); console.log(JSON.stringify(seen));";
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', code],
    { cwd: fileURLToPath(new URL('../../', import.meta.url)) },
  );
  const seen = JSON.parse(stdout) as string[];
  expect(seen).toContain('adjutant');
  for (const name of ['react', 'ink', 'commander', '@adjutant/server', 'marked'])
    expect(seen).not.toContain(name);
});

const app = runtime({ app: 'shop', runnables: [clerk], recover: 'manual' });
const other = runtime({ app: 'other', recover: 'manual' });

test.each<[unknown, unknown, unknown, string]>([
  ['clerk', undefined, {}, 'must be an agent, a step, a sequence, a parallel or a loop'],
  [undefined, undefined, {}, 'not undefined'],
  [clerk, { session: 'x' }, {}, 'options are the third argument: cli(clerk, undefined, {'],
  [clerk, ' ', {}, 'the input is empty: leave it out'],
  [clerk, 'Hello', 'x', 'the options must be an object, not a text'],
  [clerk, 'Hello', { sesion: 'x' }, 'there is no option "sesion" (did you mean "session"?)'],
  [clerk, 'Hello', { server: 'http://x' }, 'there are app, store, session, plain, ascii'],
  [clerk, 'Hello', { session: '' }, '`session` must be the id of a session, not a text'],
  [clerk, 'Hello', { plain: 'yes' }, '`plain` must be true or false'],
  [clerk, 'Hello', { app: {} }, '`app` must be an app, made by runtime({ … })'],
  [clerk, 'Hello', { store: 'talk.db' }, "`store` must be a store, such as sqlite('talk.db')"],
  [clerk, 'Hello', { app, store: {} }, '`app` has a store: leave one of them out'],
  [clerk, 'Hello', { app: other }, 'register it with runtime({ runnables: [ … ] })'],
])('%# is refused: %s', async (...given) => {
  const [runnable, input, options, reason] = given;
  const call = cli as (...args: readonly unknown[]) => Promise<unknown>;
  const error = await call(runnable, input, options).catch((thrown: unknown) => thrown);
  expect(isAdjutantError(error, 'invalid_option')).toBe(true);
  expect((error as Error).message).toContain(reason);
});
