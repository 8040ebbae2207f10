import { existsSync, fstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from 'adjutant/ports';
import { ownFile } from '../own-package.ts';
import type { Signals } from './interruption.ts';
import { processSignals } from './process-signals.ts';

export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Environment of the commands: that of their process in the real program. */
export interface Host {
  readonly stdin: NodeJS.ReadStream;
  /** True when standard input is a pipe or a file, whose text belongs to a goal. */
  readonly isPiped: boolean;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** True when notices are left out: only answers and errors are shown. @default false */
  readonly isQuiet?: boolean;
  readonly env: Environment;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** Root of the clone that this program runs from. @default none: it is an installed package */
  readonly clone?: string;
  readonly clock: Clock;
  readonly signals: Signals;
  /** Sets a variable for this program and for modules of the user. */
  readonly setVariable: (name: string, value: string) => void;
  /** Makes a folder the one from which relative paths in modules of the user count. */
  readonly enterFolder: (path: string) => void;
  /** Loads a module of the user, or the copy of a package that belongs to it, by its URL. */
  readonly importModule: (url: string) => Promise<unknown>;
}

/** True when the shell has connected standard input with a pipe or a file. */
function isPiped(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile();
  } catch {
    // There is no standard input.
    return false;
  }
}

/** Exit code of a program that is killed by SIGPIPE. */
const brokenPipe = 141;

let isTerminalWatched = false;

/** Handles a terminal that breaks. A run loses nothing: its ledger can be continued. */
export function watchTerminal({ stdin, stdout, stderr }: NodeJS.Process): void {
  if (isTerminalWatched) return;
  isTerminalWatched = true;
  let hasHungUp = false;
  // The terminal is gone. A process outside of its session is sent no signal: it sends it itself.
  const hangUp = (): void => {
    if (!hasHungUp) process.kill(process.pid, 'SIGHUP');
    hasHungUp = true;
  };
  for (const stream of [stdin, stdout, stderr]) if (stream.isTTY) stream.on('error', hangUp);
}

function watchPipe({ stdout }: NodeJS.Process): void {
  if (stdout.isTTY) return;
  // The reader of the output has left (`| head`).
  stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? brokenPipe : 1),
  );
}

/** The process as the host of the program `adjutant`, to which its streams belong. */
export function processHost(): Host {
  watchTerminal(process);
  watchPipe(process);
  return hostOfProcess();
}

export function hostOfProcess(): Host {
  const { stdin, stdout, stderr, env, platform } = process;
  const root = ownFile('../..');
  return {
    ...(existsSync(join(root, 'packages/cli/package.json')) ? { clone: root } : {}),
    stdin,
    isPiped: isPiped(),
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    platform,
    clock: systemClock,
    signals: processSignals,
    setVariable: (name, value) => {
      env[name] = value;
    },
    enterFolder: (path) => process.chdir(path),
    importModule: (url) => import(url),
  };
}
