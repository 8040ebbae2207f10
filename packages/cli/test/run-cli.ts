import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** What `npm start` runs, without the program name. */
function startArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const [, ...args] = scripts.start.split(' ');
  return args.map((arg) => (arg.startsWith('packages/') ? join(repositoryRoot, arg) : arg));
}

export interface CliOptions {
  /** @default the repository's root */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is written to standard input. @default nothing */
  readonly input?: string;
  /** User to run as. */
  readonly uid?: number;
  /** Arguments of Node itself. */
  readonly nodeArguments?: readonly string[];
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

/** Starts the real command line in a process of its own, with an environment that has no keys. */
function startCli(
  args: readonly string[],
  options: CliOptions & { readonly home: string },
): RunningCli {
  const { cwd = repositoryRoot, env = {}, input = '', home, uid, nodeArguments = [] } = options;
  const child = spawn(process.execPath, [...nodeArguments, ...startArguments(), ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      ADJUTANT_HOME: join(home, 'data'),
      TZ: 'UTC',
      ...env,
    },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  child.stdin.on('error', () => undefined).end(input);
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  return { child, finished };
}

export interface Bench {
  /** A new folder for this test, which goes with it. */
  readonly folder: string;
  /** The store that is used without `--store`. */
  readonly store: string;
  start(args: readonly string[], options?: CliOptions): RunningCli;
  run(args: readonly string[], options?: CliOptions): Promise<Finished>;
}

/** A place for one test. A test that runs beside others passes its own `onTestFinished`. */
export function bench(onEnd: (task: () => void) => void = onTestFinished): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-cli-'));
  const running = new Set<ChildProcess>();
  onEnd(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (args: readonly string[], options: CliOptions = {}): RunningCli => {
    const started = startCli(args, { ...options, home: folder });
    running.add(started.child);
    started.child.on('close', () => running.delete(started.child));
    return started;
  };
  return {
    folder,
    store: join(folder, 'data', 'adjutant.db'),
    start,
    run: (args, options) => start(args, options).finished,
  };
}

/** Lines of JSON, read. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
