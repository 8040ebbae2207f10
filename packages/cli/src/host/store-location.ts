import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { StoreUnavailableError } from 'adjutant/errors';
import { UsageError } from '../failure.ts';
import { dataFolder } from './data-folder.ts';
import type { Host } from './host.ts';

const fileName = 'adjutant.db';

/** Path of the ledgers: the given file, or the one in the user's data folder. */
function storePath(host: Host, given: string | undefined): string {
  if (given === ':memory:') return given;
  // The address is not shown, because it may have a password.
  if (given !== undefined && /^[a-z][a-z0-9+.-]+:\/\//i.test(given)) {
    throw new UsageError({
      reason:
        '--store takes a file of SQLite. Other stores belong to an app of your own, in ' +
        'adjutant.config.ts.',
    });
  }
  if (given !== undefined) return resolve(host.cwd, given);
  return resolve(host.cwd, dataFolder(host.env, host.platform, homedir()), fileName);
}

/**
 * Returns the same path for writing. A missing data folder of the user is made.
 * @throws StoreUnavailableError
 */
export function writableStorePath(host: Host, given: string | undefined): string {
  const path = storePath(host, given);
  if (given !== undefined) return path;
  try {
    mkdirSync(resolve(path, '..'), { recursive: true, mode: 0o700 });
  } catch (cause) {
    const reason =
      `its folder cannot be made (${(cause as Error).message}); set ADJUTANT_HOME or use ` +
      '--store';
    throw new StoreUnavailableError({ store: path, reason }, { cause });
  }
  return path;
}

/** True when there is a store at that path. @throws UsageError for an address */
export function isStored(host: Host, given: string | undefined): boolean {
  const path = storePath(host, given);
  return path === ':memory:' || existsSync(path);
}

/**
 * Returns the same path for reading. `undefined`: nothing has been stored yet.
 * @throws UsageError when the given file does not exist
 */
export function readableStorePath(host: Host, given: string | undefined): string | undefined {
  const path = storePath(host, given);
  if (isStored(host, given)) return path;
  if (given !== undefined) throw new UsageError({ reason: `The store ${path} does not exist.` });
  return undefined;
}
