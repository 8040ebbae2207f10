import { posix, win32 } from 'node:path';
import type { Environment } from './host.ts';

/**
 * Folder for the data of one user, by the custom of the platform. `ADJUTANT_HOME` takes precedence.
 */
export function dataFolder(env: Environment, platform: NodeJS.Platform, home: string): string {
  const { join } = platform === 'win32' ? win32 : posix;
  const own = env['ADJUTANT_HOME'];
  if (own) return own;
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'adjutant');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'adjutant');
  const shared = env['XDG_DATA_HOME'];
  // The XDG specification requires that a relative path is ignored.
  return join(shared?.startsWith('/') ? shared : join(home, '.local', 'share'), 'adjutant');
}
