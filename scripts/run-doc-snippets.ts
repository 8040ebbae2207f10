/**
 * `npm run snippets`: type-checks and runs every ```ts fence of README.md, of the packages'
 * READMEs, of docs/guide and of the `@example` tags of the packages' sources. `-- <text>` runs
 * those with the text in their place.
 *
 * A fence is a whole program, run in an empty folder. `no-run` behind `ts` leaves a fence out. The
 * comment `<!-- prelude: file.ts -->` right before a fence puts docs/preludes/file.ts in front of
 * it, for what a reader need not see (a scripted model, a test store).
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePackages } from './bundled-packages.ts';
import { type CommandResult, repositoryRoot, runCommand, runJobs } from './command.ts';

interface Snippet {
  /** `README.md:12`: where the code of the fence starts. */
  readonly place: string;
  readonly code: string;
}

// Below the ignored dist/, and not below node_modules, where Node does not strip types.
const folder = join(repositoryRoot, 'dist/doc-snippets');
const fence =
  /(?:<!-- *prelude: *(?<prelude>\S+) *-->\s*\n)?^```(?:ts|typescript)(?<info>[^\n]*)\n(?<code>.*?)^```$/gms;

function snippetsOf(document: string): Snippet[] {
  const text = readFileSync(join(repositoryRoot, document), 'utf8');
  return [...text.matchAll(fence)].flatMap((match) => {
    const { prelude, info = '', code = '' } = match.groups ?? {};
    if (info.split(/\s+/).includes('no-run')) return [];
    const line = text.slice(0, match.index + match[0].lastIndexOf(code)).split('\n').length;
    const before = prelude
      ? readFileSync(join(repositoryRoot, 'docs/preludes', prelude), 'utf8')
      : '';
    return [{ place: `${document}:${line}`, code: `${before}${code}` }];
  });
}

const docComment = /^ *\/\*\*.*?\*\//gms;

/** The fences behind `@example` in the doc comments of a source file. */
function examplesOf(source: string): Snippet[] {
  const text = readFileSync(join(repositoryRoot, source), 'utf8');
  return [...text.matchAll(docComment)].flatMap((match) => {
    const [comment] = match;
    const example = comment.indexOf('@example');
    if (example < 0) return [];
    const line = text.slice(0, match.index + example).split('\n').length;
    const plain = comment.slice(example).replace(/^ *\* ?/gm, '');
    return [...plain.matchAll(fence)].map(({ groups }, index) => ({
      place: `${source}:${line + index}`,
      code: groups?.['code'] ?? '',
    }));
  });
}

function fileOf({ place }: Snippet): string {
  return `${place.replace(/[^A-Za-z0-9]+/g, '-')}.ts`;
}

async function typeCheck(): Promise<CommandResult> {
  return runCommand('tsc', ['-p', join(folder, 'tsconfig.json')]);
}

async function runSnippet(snippet: Snippet): Promise<CommandResult> {
  const cwd = join(folder, `${fileOf(snippet)}.work`);
  mkdirSync(cwd, { recursive: true });
  return runCommand(process.execPath, [join(folder, fileOf(snippet))], {
    cwd,
    timeoutSeconds: 120,
  });
}

const documents = [
  'README.md',
  ...globSync('packages/*/README.md', { cwd: repositoryRoot }).sort(),
  ...globSync('docs/guide/**/*.md', { cwd: repositoryRoot }).sort(),
].filter((path) => existsSync(join(repositoryRoot, path)));
const sources = globSync('packages/*/src/**/*.ts', { cwd: repositoryRoot }).sort();
const wanted = process.argv.slice(2);
const snippets = [...documents.flatMap(snippetsOf), ...sources.flatMap(examplesOf)].filter(
  ({ place }) => wanted.length === 0 || wanted.some((text) => place.includes(text)),
);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const snippet of snippets)
  writeFileSync(join(folder, fileOf(snippet)), `${snippet.code}\nexport {};\n`);
// A reader of a snippet does not care for unused names, so these two are off.
const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
writeFileSync(
  join(folder, 'tsconfig.json'),
  JSON.stringify({
    extends: '../../tsconfig.json',
    compilerOptions,
    include: ['*.ts'],
    exclude: [],
  }),
);

await bundlePackages();
const jobs = snippets.map((snippet) => ({ name: snippet.place, run: () => runSnippet(snippet) }));
await runJobs(
  snippets.length === 0 ? [] : [{ name: 'types of all snippets (tsc)', run: typeCheck }, ...jobs],
  2,
);
