import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...globSync('{examples,bench}/**/README.md', { cwd: root, exclude: ['**/node_modules/**'] }),
  ...globSync('packages/*/README.md', { cwd: root }),
  ...globSync('docs/**/*.md', { cwd: root }),
].filter((page) => existsSync(join(root, page)));

/** The anchors of a page's headings, made as GitHub makes them. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = readFileSync(path, 'utf8')
    .replace(/^```.*?^```$/gms, '')
    .matchAll(/^#+ (.+)$/gm);
  const anchors = [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
  return new Set(anchors);
}

test.each(pages)('the links of %s lead somewhere', (page) => {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```$/gms, '');
  const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(root, page) : join(root, dirname(page), path);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
    });
  expect(broken).toEqual([]);
});
