/**
 * `npm run api-report`: writes docs/reference/api.md, the public names of the packages with their
 * types, from the declarations that the compiler emits. With `--check` it fails when the page is
 * out of date, so that a change of the public surface is seen in review.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportedNames } from './api-report/declarations.ts';
import { repositoryRoot, runCommand } from './command.ts';

interface PackageJson {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly 'adjutant-source'?: string }>>;
}

const page = join(repositoryRoot, 'docs/reference/api.md');
const folder = join(repositoryRoot, 'dist/api-report');
const published = ['core', 'server', 'cli'];

rmSync(folder, { recursive: true, force: true });
const { ok, output } = await runCommand('tsc', [
  ...[
    '-p',
    'tsconfig.json',
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--stripInternal',
  ],
  ...['--rootDir', '.', '--outDir', folder],
]);
if (!ok) throw new Error(output);

const text = report();
if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (readFileSync(page, 'utf8') !== text) {
  console.error(
    'docs/reference/api.md is out of date: run "npm run api-report" and look at the diff',
  );
  process.exitCode = 1;
}

function report(): string {
  const entries = published.flatMap(entriesOf);
  const counts = entries.map(({ name, names }) => `| \`${name}\` | ${names.length} |`);
  return [
    '# Public names',
    '',
    'Made by `npm run api-report` from the declarations of the packages. Comments are left out: the',
    'sources and the guide have them.',
    '',
    '| entry | names |',
    '|---|---|',
    ...counts,
    '',
    ...entries.flatMap(({ name, names }) => [
      `## ${name}`,
      '',
      '```ts no-run',
      names.map(({ declaration }) => declaration).join('\n\n'),
      '```',
      '',
    ]),
  ].join('\n');
}

function entriesOf(home: string) {
  const path = join(repositoryRoot, 'packages', home, 'package.json');
  const { name, exports } = JSON.parse(readFileSync(path, 'utf8')) as PackageJson;
  return Object.entries(exports).flatMap(([subpath, target]) => {
    const source = typeof target === 'string' ? undefined : target['adjutant-source'];
    if (source === undefined) return [];
    const declarations = join(folder, 'packages', home, source.replace(/\.ts$/, '.d.ts'));
    const names = exportedNames(declarations);
    // A program exports nothing.
    return names.length === 0 ? [] : [{ name: join(name, subpath), names }];
  });
}
