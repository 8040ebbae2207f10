/**
 * `npm run test:newcomer`: the way of somebody who sees Adjutant for the first time. In an empty
 * folder, with the packed packages and a registry on loopback, it carries out what the README and
 * the programs themselves tell to type, as printed. The last line is "N passed, N failed".
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { counts, expect } from '../expectation.ts';
import { chatted } from './chat.ts';
import { expectCode, printed } from './expectation.ts';
import { type Answer, startModelServer } from './model-server.ts';
import { startRegistry } from './registry.ts';
import { commandsIn, printedCommands, Shell } from './shell.ts';

const root = join(import.meta.dirname, '../..');
/** Packs the packages, unless what is packed is newer than all sources. */
function pack(): void {
  const folder = join(root, 'dist/packages');
  const packed = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const sources = globSync('packages/*/{src,templates}/**/*.*', { cwd: root });
  const newest = Math.max(...sources.map((path) => statSync(join(root, path)).mtimeMs));
  const oldest = Math.min(...packed.map((path) => statSync(path).mtimeMs));
  if (packed.length >= 4 && oldest > newest) return;
  console.log('The packages are packed first (npm run build -- --only-pack) …');
  execFileSync(process.execPath, ['scripts/build.ts', '--only-pack'], { cwd: root });
}

/** A clone of the repository: its files, without another copy of them. */
function cloneIn(scratch: string): string {
  const clone = join(scratch, 'clone');
  mkdirSync(clone);
  for (const name of readdirSync(root))
    if (name !== '.git') symlinkSync(join(root, name), join(clone, name));
  return clone;
}

/** An environment without keys and without what npm has set for this program. */
function newcomersEnvironment(home: string, registry: string): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
    HOME: home,
    LANG: 'C.UTF-8',
    npm_config_registry: registry,
    npm_config_cache: join(home, 'npm-cache'),
    npm_config_update_notifier: 'false',
  };
}

/** The section "New project" of the README, from the clone. `npm run build` was carried out. */
async function newProject(shell: Shell): Promise<string | undefined> {
  let next: string | undefined;
  const [block = []] = commandsIn(readFileSync(join(root, 'README.md'), 'utf8'), '## New project');
  expect('README.md begins "New project" with npm run build', block[0] === 'npm run build');
  for (const line of block.slice(1)) {
    const ran = await shell.run(line);
    expectCode(ran);
    if (!line.includes('init')) continue;
    expect(
      'init proves the types, the test and the eval',
      /✓ tsc · ✓ 1 test passed · ✓ 1 eval case passed \(rehearsal\)/.test(ran.output),
      printed(ran),
    );
    // The README goes into the folder by a line of its own.
    next = /^Next: {2}cd \S+ && (npx adjutant)$/m.exec(ran.output)?.[1];
    expect('init says what to type next', next !== undefined, printed(ran));
  }
  return next;
}

/** The README of the project, and what its programs tell to type. */
async function readmeOfProject(shell: Shell): Promise<void> {
  const blocks = commandsIn(readFileSync(join(shell.cwd, 'README.md'), 'utf8'));
  const [first = [], asking = []] = blocks;
  for (const line of first) expectCode(await shell.run(line));
  for (const line of asking) {
    const waits = await shell.run(line);
    expectCode(waits, 3);
    const approve = printedCommands(waits).find((command) => / approve req_/.test(command));
    expect('a run that waits says what to type', approve !== undefined, printed(waits));
    if (approve === undefined) continue;
    const approved = await shell.run(approve);
    expectCode(approved);
    expect(
      'the run goes on with the answer',
      approved.output.includes('Reminded Ben'),
      printed(approved),
    );
  }
}

/** A run whose process is killed in the middle goes on without a second reminder. */
async function killed(shell: Shell): Promise<void> {
  const askedAgain = Promise.withResolvers<void>();
  let isReleased = false;
  const answer = (hasResult: boolean): Answer => {
    if (!hasResult) return { call: { name: 'remind', args: { invoice: 'A-1' } } };
    if (isReleased) return { text: 'It is done.' };
    askedAgain.resolve();
    return { text: 'It', until: () => Promise.race([]) };
  };
  const server = await startModelServer((messages) =>
    answer(messages.some(({ role }) => role === 'tool')),
  );
  try {
    const env = { ADJUTANT_MODEL: server.modelName };
    const { child, finished } = shell.start("npx adjutant 'Remind Ada of A-1'", env);
    await Promise.race([askedAgain.promise, finished]);
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    const { output } = await finished;
    const sessions = await shell.run('npx adjutant sessions --json', env);
    expectCode(sessions);
    const [newest] = sessions.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { readonly id: string; readonly status: string });
    expect(
      'the run that was killed is open',
      newest?.status !== 'completed',
      `${output}${sessions.output}`,
    );
    isReleased = true;
    const resumed = await shell.run(`npx adjutant resume ${newest?.id}`, env);
    expectCode(resumed);
    expect(
      'the killed run goes on to its answer',
      resumed.output.includes('It is done.'),
      printed(resumed),
    );
    const shown = await shell.run(`npx adjutant show ${newest?.id} --events`, env);
    const attempts = shown.output.match(/tool_attempt/g)?.length ?? 0;
    expect('the reminder went out once', attempts === 1, printed(shown));
  } finally {
    server.close();
  }
}

/** The command that people know from other tools, with the packages of a registry. */
async function created(shell: Shell, scratch: string): Promise<void> {
  await shell.run(`cd '${scratch}'`);
  const ran = await shell.run('npm create --yes adjutant studio -- --yes --template coder');
  expectCode(ran);
  expect('npm create proves what it made', /✓ 1 eval case passed/.test(ran.output), printed(ran));
  await shell.run('cd studio');
  const doctor = await shell.run('npx adjutant doctor');
  expectCode(doctor);
  expect(
    'doctor finds nothing to mend',
    doctor.output.includes('Nothing to mend.'),
    printed(doctor),
  );
}

const scratch = mkdtempSync(join(tmpdir(), 'adjutant-newcomer-'));
let registry: Awaited<ReturnType<typeof startRegistry>> | undefined;
try {
  pack();
  registry = await startRegistry(root);
  const home = join(scratch, 'home');
  mkdirSync(home);
  const shell = new Shell(cloneIn(scratch), newcomersEnvironment(home, registry.url), scratch);
  const next = await newProject(shell);
  if (counts.failed === 0 && next !== undefined) {
    await readmeOfProject(shell);
    await killed(shell);
    await chatted(shell, next);
    await created(shell, scratch);
  }
} catch (error) {
  expect(error instanceof Error ? (error.stack ?? error.message) : String(error), false);
} finally {
  registry?.close();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
if (counts.failed > 0) process.exitCode = 1;
