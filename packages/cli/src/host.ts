import { type Clock, systemClock } from 'adjutant/ports';

export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the commands know of the process that they run in. */
export interface Host {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Environment;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
}

/** Exit code of a program that is killed by SIGPIPE. */
const brokenPipe = 141;

export function processHost(): Host {
  const { stdin, stdout, stderr, env, platform } = process;
  // Whoever read the output has left (`| head`). A run loses nothing by it: its ledger can be
  // continued.
  stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? brokenPipe : 1),
  );
  return { stdin, stdout, stderr, env, cwd: process.cwd(), platform, clock: systemClock };
}
