import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Outcome, runInProcess } from './in-process.ts';

export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

const main = join(repositoryRoot, 'packages/cli/dist/main.js');

export interface CommandOptions {
  /** @default the repository's root */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text on standard input. @default nothing */
  readonly input?: string;
}

export interface ProcessOptions extends CommandOptions {
  /** User to run as. */
  readonly uid?: number;
  /** Arguments of Node itself. */
  readonly nodeArguments?: readonly string[];
  /** Path of another program than the command line. */
  readonly program?: string;
}

/**
 * The sources, as the process of the test runs them. It takes over trials of another process only
 * where they were measured by the same code.
 */
export const fromSources: ProcessOptions = {
  nodeArguments: ['--conditions=adjutant-source'],
  program: join(repositoryRoot, 'packages/cli/src/main.ts'),
};

export interface Finished extends Omit<Outcome, 'code'> {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

/** An environment without keys, whose user has the folder as home. */
function environmentOf(home: string): Readonly<Record<string, string | undefined>> {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    ADJUTANT_HOME: join(home, 'data'),
    TZ: 'UTC',
  };
}

/** Starts the real command line in a process of its own. */
function startCli(
  args: readonly string[],
  options: ProcessOptions & { readonly home: string },
): RunningCli {
  const { cwd = repositoryRoot, env = {}, input = '', home, uid, nodeArguments = [] } = options;
  const { program = main } = options;
  const child = spawn(process.execPath, [...nodeArguments, program, ...args], {
    cwd,
    // Without the cache most of the start of a process is to strip the types of what it loads.
    env: {
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...environmentOf(home),
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
  /** Starts the real program in a process of its own. */
  start(args: readonly string[], options?: ProcessOptions): RunningCli;
  /** Carries out a command in the process of the test, which takes a tenth of the time. */
  run(args: readonly string[], options?: CommandOptions): Promise<Outcome>;
}

/** A place for one test. A test that runs beside others passes its own `onTestFinished`. */
export function bench(onEnd: (task: () => void) => void = onTestFinished): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-cli-'));
  const running = new Set<ChildProcess>();
  onEnd(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (args: readonly string[], options: ProcessOptions = {}): RunningCli => {
    const started = startCli(args, { ...options, home: folder });
    running.add(started.child);
    started.child.on('close', () => running.delete(started.child));
    return started;
  };
  return {
    folder,
    store: join(folder, 'data', 'adjutant.db'),
    start,
    run: (args, { cwd = repositoryRoot, env = {}, input = '' } = {}) =>
      runInProcess(args, {
        cwd,
        env: { ...environmentOf(folder), ...env },
        variables: env,
        input,
      }),
  };
}

/** Lines of JSON, read. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
