import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { dataFolder } from '../host/data-folder.ts';
import type { Host } from '../host/host.ts';
import { type ConfigOptions, isOwn, nearestConfig } from './find-config.ts';

/**
 * Folder in which `adjutant eval` keeps its reports, and from which `adjutant serve` shows them:
 * `.adjutant/evals` beside the configuration of the project. Without a project it lies in the
 * user's data folder, beside the store with the runs of evals.
 */
export function evalsFolder(
  host: Pick<Host, 'cwd' | 'env' | 'platform'>,
  { config }: ConfigOptions,
): string {
  const named = typeof config === 'string' ? resolve(host.cwd, config) : undefined;
  const found = config === undefined ? nearestConfig(host.cwd) : undefined;
  // Nothing is written into the folder of somebody else.
  const project = named ?? (found !== undefined && isOwn(found) ? found : undefined);
  return project === undefined
    ? resolve(host.cwd, dataFolder(host.env, host.platform, homedir()), 'evals')
    : join(dirname(project), '.adjutant', 'evals');
}
