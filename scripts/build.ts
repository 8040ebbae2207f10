/**
 * `npm run build`: makes the packages as they are published and checks them as a user gets them.
 * compile (libraries: declarations by the compiler, modules bundled) → stage (dist/stage/<name>) →
 * pack (dist/packages/*.tgz) → publint, attw → install into an empty project → smoke test. Stops at
 * the first step that fails, since each needs the one before. `-- --only-pack` ends with the
 * packed packages.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleEntries } from './bundle.ts';
import { repositoryRoot, runCommand } from './command.ts';
import {
  brokenLinks,
  type Manifest,
  publishedManifest,
  publishedReadme,
  repositoryAddress,
} from './published.ts';

interface PublishedPackage {
  /** Below `packages/`. In the order of their dependencies. */
  readonly folder: string;
  /** True when it is imported, and not only run. */
  readonly isLibrary: boolean;
  /** True when its modules are bundled. @default false: they are the compiler's */
  readonly isBundled?: boolean;
}

const packages: readonly PublishedPackage[] = [
  { folder: 'core', isLibrary: true, isBundled: true },
  { folder: 'server', isLibrary: true, isBundled: true },
  { folder: 'cli', isLibrary: true, isBundled: true },
  { folder: 'create-adjutant', isLibrary: false },
];

const isOnlyPacked = process.argv.includes('--only-pack');

class BuildError extends Error {}

async function step(
  name: string,
  program: string,
  args: readonly string[],
  cwd: string = repositoryRoot,
): Promise<string> {
  const { ok, output, seconds } = await runCommand(program, args, { cwd });
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)`);
  if (!ok) throw new BuildError(output);
  return output;
}

async function compile({ folder, isBundled = false }: PublishedPackage): Promise<void> {
  const home = join(repositoryRoot, 'packages', folder);
  rmSync(join(home, 'dist'), { recursive: true, force: true });
  await step(`compile packages/${folder}`, 'tsc', [
    '-p',
    `packages/${folder}/tsconfig.build.json`,
    ...(isBundled ? ['--emitDeclarationOnly'] : []),
  ]);
  if (isBundled) await bundleEntries(home, join(home, 'dist'));
  if (folder === 'server') await addDashboard(join(home, 'dist/dashboard'));
  makeProgramsExecutable(home);
  refuseSourceUrls(home);
}

/** Builds the page that the server serves, and puts it into the server's package. */
async function addDashboard(target: string): Promise<void> {
  await step('build packages/dashboard', process.execPath, ['scripts/dashboard.ts', 'build']);
  cpSync(join(repositoryRoot, 'packages/dashboard/dist'), target, { recursive: true });
}

function readPackageJson(home: string): Manifest {
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest;
}

function makeProgramsExecutable(home: string): void {
  for (const program of Object.values(
    (readPackageJson(home)['bin'] ?? {}) as Record<string, string>,
  )) {
    const path = join(home, program);
    if (!existsSync(path))
      throw new BuildError(
        `package.json names the program ${program}, which the compiler did not write`,
      );
    const code = readFileSync(path, 'utf8');
    if (!code.startsWith('#!')) writeFileSync(path, `#!/usr/bin/env node\n${code}`);
    chmodSync(path, 0o755);
  }
}

/**
 * The compiler rewrites `.ts` in imports but not in URLs (a worker's file): such a URL would name a
 * file that is not packed.
 */
function refuseSourceUrls(home: string): void {
  for (const path of globSync('dist/**/*.js', { cwd: home })) {
    const found = /new URL\(\s*['"`][^'"`]*\.ts['"`]/.exec(readFileSync(join(home, path), 'utf8'));
    if (found)
      throw new BuildError(
        `${path}: ${found[0]}…) names a source file; derive the ending from import.meta.url`,
      );
  }
}

/** A copy of the published files, with the package.json and README of a published package. */
function stage(folder: string, address: string | undefined): string {
  const home = join(repositoryRoot, 'packages', folder);
  const target = join(repositoryRoot, 'dist/stage', folder);
  mkdirSync(target, { recursive: true });
  cpSync(join(home, 'dist'), join(target, 'dist'), { recursive: true });
  const templates = join(home, 'templates');
  if (existsSync(templates)) cpSync(templates, join(target, 'templates'), { recursive: true });
  cpSync(join(repositoryRoot, 'LICENSE'), join(target, 'LICENSE'));
  const readme = readFileSync(join(home, 'README.md'), 'utf8');
  writeFileSync(join(target, 'README.md'), publishedReadme(readme, `packages/${folder}`, address));
  const published = publishedManifest(readPackageJson(home), `packages/${folder}`, address);
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  checkFrontPage(folder, readme, published);
  return target;
}

/** Fields that a registry shows, and links that work there, with an address and without one. */
function checkFrontPage(folder: string, readme: string, published: Manifest): void {
  const place = `packages/${folder}`;
  const wanted = ['name', 'description', 'license', 'keywords'];
  const missing = wanted.filter((field) => published[field] === undefined);
  if (missing.length > 0)
    throw new BuildError(`${place}/package.json does not say: ${missing.join(', ')}`);
  for (const address of [repositoryAddress(published), 'https://git.example/adjutant', undefined]) {
    const packed = publishedReadme(readme, place, address);
    const broken = brokenLinks(packed, repositoryRoot, address);
    if (broken.length > 0)
      throw new BuildError(`${place}/README.md, packed: links lead nowhere: ${broken.join(', ')}`);
  }
}

async function pack(folder: string, address: string | undefined): Promise<string> {
  const destination = join(repositoryRoot, 'dist/packages');
  mkdirSync(destination, { recursive: true });
  const output = await step(
    `pack packages/${folder}`,
    'npm',
    ['pack', '--json', '--loglevel=error', '--pack-destination', destination],
    stage(folder, address),
  );
  const start = output.search(/^[[{]/m);
  const packed = Object.values(
    JSON.parse(output.slice(start)) as Record<
      string,
      { filename: string; size: number; entryCount: number }
    >,
  )[0];
  if (!packed) throw new BuildError(`npm pack did not say what it packed:\n${output}`);
  console.log(
    `     ${packed.filename}: ${packed.entryCount} files, ${Math.ceil(packed.size / 1024)} KiB`,
  );
  return join(destination, packed.filename);
}

async function checkPackage(
  { folder, isLibrary }: PublishedPackage,
  tarball: string,
): Promise<void> {
  await step(`publint packages/${folder}`, 'publint', ['run', tarball, '--strict']);
  if (isLibrary)
    await step(`attw packages/${folder}`, 'attw', [
      tarball,
      '--profile',
      'esm-only',
      '--no-definitely-typed',
    ]);
}

/** Installs the packed packages into an empty project and uses them there with plain Node. */
async function tryInstalled(tarballs: readonly string[]): Promise<void> {
  const project = mkdtempSync(join(tmpdir(), 'adjutant-build-'));
  try {
    writeFileSync(
      join(project, 'package.json'),
      '{ "name": "smoke-test", "private": true, "type": "module" }\n',
    );
    cpSync(join(repositoryRoot, 'scripts/smoke-test.ts'), join(project, 'smoke-test.ts'));
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    await step(
      'install them into an empty project',
      'npm',
      ['install', ...quiet, ...tarballs],
      project,
    );
    console.log(
      (await step('import every entry', process.execPath, ['smoke-test.ts'], project)).replace(
        /^(?=.)/gm,
        '     ',
      ),
    );
    console.log(
      '     ' +
        `${(await step('adjutant --version', join(project, 'node_modules/.bin/adjutant'), ['--version'], project)).trim()}`,
    );
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

try {
  rmSync(join(repositoryRoot, 'dist/stage'), { recursive: true, force: true });
  rmSync(join(repositoryRoot, 'dist/packages'), { recursive: true, force: true });
  for (const published of packages) await compile(published);
  const address = repositoryAddress(readPackageJson(repositoryRoot));
  if (address === undefined)
    console.log(
      '     package.json names no `repository`: the packages name none, and their READMEs ' +
        'name paths in the place of links',
    );
  const tarballs: string[] = [];
  for (const published of packages) {
    const tarball = await pack(published.folder, address);
    if (!isOnlyPacked) await checkPackage(published, tarball);
    tarballs.push(tarball);
  }
  if (!isOnlyPacked) await tryInstalled(tarballs);
  console.log('build passed: dist/packages');
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.log(error.message);
  console.log('build failed');
  process.exitCode = 1;
}
