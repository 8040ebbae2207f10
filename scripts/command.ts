import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('..', import.meta.url));
const programs = join(repositoryRoot, 'node_modules/.bin');

export interface CommandResult {
  /** Ended by itself, in time, with exit code 0. */
  readonly ok: boolean;
  /** Standard output and standard error as they came, with a last line that says why it failed. */
  readonly output: string;
  readonly seconds: number;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** @default 300 */
  readonly timeoutSeconds?: number;
}

/**
 * Runs a program, with those of node_modules (the pinned Node among them) first on its PATH. Never
 * rejects: what goes wrong is in the result.
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const { timeoutSeconds = 300 } = options;
  const started = performance.now();
  let output = '';
  const finish = (ok: boolean, reason: string): void => {
    resolve({
      ok,
      output: ok ? output : `${output.trimEnd()}\n${reason}\n`,
      seconds: (performance.now() - started) / 1000,
    });
  };
  const child = spawn(program, args, {
    cwd: options.cwd ?? repositoryRoot,
    env: { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH']}`, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutSeconds * 1000,
    killSignal: 'SIGKILL',
  });
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.on('error', (error) => finish(false, `could not start ${program}: ${error.message}`));
  child.on('close', (code, signal) =>
    finish(
      code === 0,
      signal ? `ended by ${signal} (limit ${timeoutSeconds} s)` : `exit code ${code}`,
    ),
  );
  return promise;
}

export interface Job {
  readonly name: string;
  readonly run: () => Promise<CommandResult>;
}

/**
 * Runs jobs, `parallel` at a time, and prints `ok` or `FAIL` with the output of what failed, and at
 * the end what failed and `N passed, N failed` alone on the last line. Sets the exit code. No job
 * at all is a failure: something looked in the wrong place.
 */
export async function runJobs(jobs: readonly Job[], parallel: number): Promise<void> {
  const failed: string[] = [];
  const waiting = [...jobs];
  const work = async (): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const { ok, output, seconds } = await job.run();
      console.log(`${ok ? 'ok  ' : 'FAIL'} ${job.name} (${seconds.toFixed(1)} s)`);
      if (ok) continue;
      failed.push(job.name);
      console.log(output.replace(/^/gm, '     '));
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  for (const name of failed) console.log(`failed: ${name}`);
  if (jobs.length === 0) console.log('nothing found to run');
  if (jobs.length === 0 || failed.length > 0) process.exitCode = 1;
  console.log(`${jobs.length - failed.length} passed, ${failed.length} failed`);
}
