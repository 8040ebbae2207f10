import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';

export interface ConfigOptions {
  /**
   * Path of the module that exports the app; `false`: none.
   * @default the first of `configNames` in the working folder, else in the folders above it
   */
  readonly config?: string | false;
}

/** Names of configuration files, in the order in which they are tried in each folder. */
export const configNames: readonly string[] = [
  'adjutant.config.ts',
  'adjutant.config.mts',
  'adjutant.config.js',
  'adjutant.config.mjs',
];

/** Parts of the host that the search for a configuration needs. */
export type ConfigHost = Pick<Host, 'cwd' | 'enterFolder'>;

/**
 * Returns the path of the configuration that the options mean. Relative paths in one that was found
 * above the working folder count from its own folder, as if the command were started there.
 * `undefined`: there is none.
 * @throws UsageError when the found file belongs to another user
 */
export function findConfig(host: ConfigHost, { config }: ConfigOptions): string | undefined {
  if (config === false) return undefined;
  if (config !== undefined) return resolve(host.cwd, config);
  const file = nearestConfig(host.cwd);
  if (file !== undefined && dirname(file) !== host.cwd) enter(host, dirname(file), file);
  return file;
}

/** Returns the path of the configuration in a folder, else in the folders above it. */
export function nearestConfig(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = configIn(folder);
    if (file !== undefined || folder === dirname(folder)) return file;
  }
}

function configIn(folder: string): string | undefined {
  return configNames
    .map((name) => resolve(folder, name))
    .find((file) => ownerOf(file) !== undefined);
}

/** Id of the user who owns a file. `undefined`: there is no such file. */
function ownerOf(file: string): number | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.uid : undefined;
}

/** True for a file of the present user, or of the administrator. */
export function isOwn(file: string): boolean {
  const owner = ownerOf(file);
  const user = process.getuid?.();
  return user === undefined || owner === user || owner === 0;
}

/** @throws UsageError: loading the module of somebody else would run that person's code */
function enter(host: ConfigHost, folder: string, file: string): void {
  if (!isOwn(file))
    throw new UsageError({
      reason:
        `${file} belongs to another user, and is not loaded from a folder below it. Name it ` +
        'with --config if it is meant, or leave it out with --no-config.',
    });
  host.enterFolder(folder);
}
