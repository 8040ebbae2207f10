import { existsSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Folder of the dashboard that came with this package, or that was built in the clone of which this
 * package is a part; `undefined` when there is none.
 */
export function ownDashboard(): { readonly folder: string } | undefined {
  const manifest = ownManifest();
  if (manifest === undefined) return undefined;
  const home = dirname(manifest);
  const folders = [join(home, '../dashboard/dist'), join(home, 'dist/dashboard')];
  const folder = folders.find((one) => existsSync(join(one, 'index.html')));
  return folder === undefined ? undefined : { folder };
}

/** Programs that bundle this package leave its package.json behind. */
function ownManifest(): string | undefined {
  try {
    return findPackageJSON(import.meta.url);
  } catch {
    return undefined;
  }
}
