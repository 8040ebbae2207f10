import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

const manifest = findPackageJSON(import.meta.url) ?? '';

interface OwnManifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The package.json of this package, whether its sources run or its bundle. */
export function ownManifest(): OwnManifest {
  return JSON.parse(readFileSync(manifest, 'utf8')) as OwnManifest;
}

/** Path of a file of this package. */
export function ownFile(...names: readonly string[]): string {
  return join(dirname(manifest), ...names);
}
