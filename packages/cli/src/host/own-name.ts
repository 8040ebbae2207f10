import { basename, isAbsolute, relative } from 'node:path';

/** Facts that tell how this program was started. */
interface Started {
  readonly argv: readonly string[];
  /** Options of Node itself. */
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
}

const mainFiles: ReadonlySet<string> = new Set(['main.ts', 'main.js']);

/**
 * Words that start this program again, as it was started: commands that are printed to be typed
 * work as they are printed.
 */
export function ownName({ argv, execArgv, env, cwd }: Started = process): readonly string[] {
  const program = argv[1] ?? '';
  const by = env['npm_lifecycle_event'];
  if (mainFiles.has(basename(program)))
    return program.endsWith('.ts') && by === 'start'
      ? ['npm', 'start', '-s', '--']
      : ['node', ...execArgv, shortest(program, cwd())];
  const isInstalled = /[\\/]node_modules[\\/]/.test(program);
  return isInstalled && by === 'npx' ? ['npx', 'adjutant'] : ['adjutant'];
}

/** A path as it is typed: from the present folder, where it lies below it. */
function shortest(path: string, folder: string): string {
  const below = relative(folder, path);
  return below.startsWith('..') || isAbsolute(below) ? path : below;
}

/** Returns a command of this program as it is typed: `npx adjutant sessions`. */
export function ownCommand(words: string): string {
  return [...ownName(), words].join(' ');
}
