/**
 * Contents of packed packages that differ from the repository: a package.json without the source
 * and with the repository's addresses, and a README whose links work outside the repository.
 */
import { existsSync } from 'node:fs';
import { posix } from 'node:path';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Manifest = { [key: string]: Json };

const fences = /(^```.*?^```$)/gms;
const links = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;
const isAbsolute = (link: string): boolean => /^[a-z]+:/.test(link);

/**
 * Address of the web pages of the repository, from `repository` in its package.json (an https URL
 * or `{ url }`, `git+` and `.git` allowed). `undefined` where there is none.
 */
export function repositoryAddress({ repository }: Manifest): string | undefined {
  const url =
    typeof repository === 'object' && repository !== null && !Array.isArray(repository)
      ? repository['url']
      : repository;
  if (typeof url !== 'string') return undefined;
  const address = url.replace(/^git\+/, '').replace(/\.git$/, '');
  if (!address.startsWith('https://'))
    throw new Error(`repository in package.json is "${url}": give it as an https URL`);
  return address;
}

/** A package.json as it is published. `folder` is the package's folder, from the root. */
export function publishedManifest(
  manifest: Manifest,
  folder: string,
  address: string | undefined,
): Manifest {
  const { scripts: _scripts, devDependencies: _devDependencies, ...published } = manifest;
  published['exports'] = withoutSource(published['exports'] ?? {});
  if (address === undefined) return published;
  return {
    ...published,
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
    repository: { type: 'git', url: `git+${address}.git`, directory: folder },
  };
}

function withoutSource(target: Json): Json {
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return target;
  return Object.fromEntries(
    Object.entries(target).flatMap(([key, value]) =>
      key === 'adjutant-source' ? [] : [[key, withoutSource(value)]],
    ),
  );
}

/**
 * A README with absolute links. Where the repository has no address, a link to one of its files
 * becomes its text and the path of the file, and a picture is left out.
 */
export function publishedReadme(text: string, folder: string, address?: string): string {
  const replaced = text.split(fences).map((part, index) =>
    index % 2 === 1
      ? part
      : part.replace(links, (whole, mark: string, label: string, link: string) => {
          if (isAbsolute(link) || link.startsWith('#')) return whole;
          const [path = '', anchor] = link.split('#');
          const file = posix.join(folder, path);
          if (address === undefined) return mark === '!' ? '' : `${label} (\`${file}\`)`;
          const target = `${address}/${mark === '!' ? 'raw' : 'blob'}/HEAD/${file}`;
          return `${mark}[${label}](${target}${anchor === undefined ? '' : `#${anchor}`})`;
        }),
  );
  return replaced.join('').replace(/\n{3,}/g, '\n\n');
}

/** Links of a packed README that lead nowhere: relative ones, and files that are not there. */
export function brokenLinks(readme: string, root: string, address?: string): string[] {
  const found = [...readme.replace(fences, '').matchAll(links)].map(([, , , link = '']) => link);
  return found.filter((link) => {
    if (link.startsWith('#')) return false;
    if (!isAbsolute(link)) return true;
    const [, path] = link.split(/\/(?:blob|raw)\/HEAD\//);
    if (address === undefined || !link.startsWith(`${address}/`) || path === undefined)
      return false;
    return !existsSync(posix.join(root, path.split('#')[0] ?? ''));
  });
}
