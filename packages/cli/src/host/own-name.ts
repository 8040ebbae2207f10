import { basename } from 'node:path';

/** Facts that tell how this program was started. */
interface Started {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Words that start this program again, as it was started: commands that are printed to be typed
 * work as they are printed.
 */
export function ownName({ argv, env }: Started = process): readonly string[] {
  const program = argv[1] ?? '';
  const by = env['npm_lifecycle_event'];
  const isScript = program.endsWith('.ts') && basename(program) === 'main.ts';
  if (isScript && by === 'start') return ['npm', 'start', '-s', '--'];
  const isInstalled = /[\\/]node_modules[\\/]/.test(program);
  return isInstalled && by === 'npx' ? ['npx', 'adjutant'] : ['adjutant'];
}

/** Returns a command of this program as it is typed: `npx adjutant sessions`. */
export function ownCommand(words: string): string {
  return [...ownName(), words].join(' ');
}
