import { statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './command.ts';
import { run } from './local-service.ts';

export const temporalFolder = join(repositoryRoot, 'packages/temporal');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Installs the packages of `packages/temporal` by their own lockfile, unless they are there. */
export function installTemporalPackages(): void {
  const installed = changedAt(join(temporalFolder, 'node_modules/.package-lock.json'));
  if (installed > 0 && installed >= changedAt(join(temporalFolder, 'package-lock.json'))) return;
  console.log('Installing the packages of packages/temporal (once) …');
  run(npm, ['ci', '--prefix', temporalFolder, '--no-audit', '--no-fund', '--loglevel=error']);
}
