import { globSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Manifest } from './file-rules.ts';
import { readSource, type SourceFile } from './source-file.ts';

export const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));

const sources = ['packages/*/{src,test}/**/*.{ts,tsx}', '{examples,bench,scripts}/**/*.ts'];
const notSources = /(^|\/)(node_modules|dist|fixtures)\//;

/** Returns the facts of every source file of every workspace. */
export function readSourceTree(): SourceFile[] {
  const paths = globSync(sources, { cwd: repositoryRoot }).map((path) => path.split(sep).join('/'));
  return paths
    .filter((path) => !notSources.test(path))
    .sort()
    .map((path) => readSource(path, readFileSync(`${repositoryRoot}${path}`, 'utf8')));
}

interface PackageJson {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly exports?: Readonly<Record<string, string | { readonly 'adjutant-source'?: string }>>;
}

/**
 * Returns the manifest of a workspace, with the source files behind its exports. All are paths from
 * the repository root.
 */
export function readManifest(folder: string): Manifest & { readonly entries: readonly string[] } {
  const json = JSON.parse(
    readFileSync(`${repositoryRoot}${folder}/package.json`, 'utf8'),
  ) as PackageJson;
  const isOptional = (peer: string): boolean =>
    json.peerDependenciesMeta?.[peer]?.optional === true;
  const peers = Object.keys(json.peerDependencies ?? {});
  const targets = Object.values(json.exports ?? {}).flatMap((target) =>
    typeof target === 'string' ? [] : (target['adjutant-source'] ?? []),
  );
  return {
    folder,
    name: json.name,
    dependencies: [
      ...Object.keys(json.dependencies ?? {}),
      ...peers.filter((peer) => !isOptional(peer)),
    ],
    optionalPeers: peers.filter(isOptional),
    entries: targets.map((target) => target.replace('./', `${folder}/`)),
  };
}
