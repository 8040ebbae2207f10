import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { notice } from '../output/notice.ts';

/** The dashboard of a clone, which is built there. */
export interface CloneDashboard {
  /** Folder of the built page, whether it is there or not yet. */
  readonly folder: string;
  /** Program that builds the page where that is to be done. */
  readonly script: string;
}

/** Returns the dashboard of the clone that this program runs from; `undefined`: it is installed. */
export function cloneDashboard({ clone }: Pick<Host, 'clone'>): CloneDashboard | undefined {
  if (clone === undefined) return undefined;
  const script = join(clone, 'scripts/dashboard.ts');
  const home = join(clone, 'packages/dashboard');
  const isThere = existsSync(script) && existsSync(join(home, 'package.json'));
  return isThere ? { folder: join(home, 'dist'), script } : undefined;
}

/**
 * Builds the page in the background and says so. The server answers meanwhile.
 * @returns function that ends the build
 */
export function buildInBackground(
  host: Host,
  { script }: CloneDashboard,
  { isQuiet }: { readonly isQuiet: boolean },
): () => void {
  const builder = spawn(process.execPath, [script, 'build'], {
    env: host.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  tellLines(builder.stdout, (line) => {
    if (!isQuiet) notice(host, line);
  });
  let failure = '';
  builder.stderr.setEncoding('utf8').on('data', (text: string) => (failure += text));
  builder.on('error', ({ message }) => (failure += message));
  let isEnded = false;
  builder.on('close', (code) => {
    if (code === 0 || isEnded) return;
    for (const line of ['The dashboard could not be built.', ...failure.trim().split('\n')])
      notice(host, line);
  });
  return () => {
    isEnded = true;
    builder.kill();
  };
}

function tellLines(stream: ChildProcess['stdout'], tell: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) tell(line);
  });
}
