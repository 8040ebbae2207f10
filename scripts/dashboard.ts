/**
 * The dashboard of a clone: `node scripts/dashboard.ts build` installs its packages by their own
 * lockfile and builds it, unless that was done after its sources changed last; it says what it
 * does. `… dev` serves it with reload, and passes its calls to a running `adjutant serve`, that at
 * `ADJUTANT_URL` if that is set.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'packages/dashboard');
const built = join(folder, 'dist');
const modules = join(folder, 'node_modules');
/** Address of `adjutant serve`. */
const defaultServer = 'http://127.0.0.1:8787';
const waitMs = 500;
/** Lines of a failure that are shown. */
const shownLines = 15;

class BuildFailedError extends Error {}

/** Epoch milliseconds of the last change of a file; 0 when there is none. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function isInstalled(): boolean {
  const installed = changedAt(join(modules, '.package-lock.json'));
  return installed > 0 && installed >= changedAt(join(folder, 'package-lock.json'));
}

/** True when the page was built after its sources, those of the client among them, have changed. */
function isBuilt(): boolean {
  const sources = [
    ...globSync('{src,public}/**/*', { cwd: folder }).map((path) => join(folder, path)),
    ...globSync('*.{html,json,ts}', { cwd: folder }).map((path) => join(folder, path)),
    ...globSync('packages/server/src/client/**/*.ts', { cwd: root }).map((path) =>
      join(root, path),
    ),
  ];
  const at = changedAt(join(built, 'index.html'));
  return at > 0 && sources.every((path) => changedAt(path) <= at);
}

/**
 * The environment without what an npm has set that started this program: it names another package,
 * and a prefix that is not the folder of the dashboard.
 */
function environment(): NodeJS.ProcessEnv {
  const own = /^npm_(?:package|lifecycle|command|config_(?:prefix|local_prefix|global))|^INIT_CWD$/;
  const rest = Object.entries(process.env).filter(([name]) => !own.test(name));
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
  return { ADJUTANT_URL: defaultServer, ...Object.fromEntries(rest), PATH: path };
}

let child: ChildProcess | undefined;

/** Runs npm in the folder of the dashboard. @throws BuildFailedError */
async function npm(args: readonly string[], isShown = false): Promise<void> {
  const own = process.env['npm_execpath'];
  const isNpm = own !== undefined && /npm-cli\.c?js$/.test(own);
  const [program, ...first] = isNpm ? [process.execPath, own] : ['npm'];
  // A prefix of its own: this folder is below that of the workspace, and no part of it.
  const all = [...first, '--prefix', folder, ...args];
  const started = spawn(program as string, all, {
    ...{ cwd: folder, env: environment(), stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'] },
    // `npm` is a script on Windows, which only a shell starts.
    shell: process.platform === 'win32' && !isNpm,
  });
  child = started;
  let said = '';
  for (const stream of [started.stdout, started.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const code = await new Promise<number | null>((resolve) => {
    started.on('error', ({ message }) => {
      said += message;
      resolve(1);
    });
    started.on('close', resolve);
  });
  child = undefined;
  if (code === 0) return;
  const lines = said.trim().split('\n').slice(-shownLines).join('\n');
  throw new BuildFailedError(`npm ${args.join(' ')} ended with ${code}:\n${lines}`);
}

async function install(): Promise<void> {
  if (isInstalled()) return;
  console.log('Installing the packages of the dashboard (once) …');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--include=dev'];
  await npm(['ci', ...quiet]);
}

async function build(): Promise<void> {
  if (isBuilt()) return;
  const began = performance.now();
  await install();
  console.log('Building the dashboard …');
  // The page that is there is served until the new one is whole.
  const cache = join(modules, '.cache');
  const [fresh, former] = ['new', 'old'].map((name) => join(cache, `${name}-${process.pid}`));
  mkdirSync(cache, { recursive: true });
  await npm(['run', 'build', '--', '--outDir', fresh as string, '--emptyOutDir']);
  if (existsSync(built)) renameSync(built, former as string);
  renameSync(fresh as string, built);
  rmSync(former as string, { recursive: true, force: true });
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`The dashboard is built (${seconds} s).`);
}

/** Keeps several programs from building at the same time: each waits for the one before. */
async function alone(work: () => Promise<void>): Promise<void> {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  const lock = join(tmpdir(), `adjutant-dashboard-${name}.lock`);
  while (!taken(lock)) await new Promise((resolve) => setTimeout(resolve, waitMs));
  process.on('exit', () => rmSync(lock, { force: true }));
  await work();
}

function taken(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // One that was killed has left its lock behind.
    if (!isAlive(Number(contentOf(lock)))) rmSync(lock, { force: true });
    return false;
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    child?.kill(signal);
    process.exit(1);
  });

const [, , command] = process.argv;
try {
  if (command === 'build') await alone(build);
  else if (command === 'dev') {
    await alone(install);
    await npm(['run', 'dev', '--', ...process.argv.slice(3)], true);
  } else throw new BuildFailedError('Usage: node scripts/dashboard.ts build|dev');
} catch (error) {
  if (!(error instanceof BuildFailedError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
