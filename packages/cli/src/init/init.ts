import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { parseModelName } from 'adjutant';
import { shellWord } from '../actions/carry-out.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';
import { formatCount } from '../output/format.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { ownFile } from '../own-package.ts';
import { agrees, type Choice, choose } from './choose.ts';
import { modelChoices, modelsOfOllama } from './models.ts';
import {
  neededTarballs,
  type ProjectChoices,
  type ProjectFile,
  projectFiles,
  stores,
  templates,
} from './templates.ts';
import { verifyProject } from './verify.ts';

export interface InitOptions {
  readonly template?: string;
  readonly model?: string;
  readonly store?: string;
  readonly packages?: string;
  readonly yes?: boolean;
  /** False: the packages are not installed, and nothing is checked. */
  readonly install: boolean;
}

export interface InitContext {
  readonly host: Host;
  readonly interruption: Interruption;
  readonly options: InitOptions;
}

/** `adjutant init`: writes a project, installs its packages, and proves that it works. */
export async function initProject(context: InitContext, given = '.'): Promise<number> {
  const { host, options } = context;
  const folder = resolve(host.cwd, given);
  const before = entriesOf(folder);
  const name = packageName(folder);
  const packages = packagesFolder(host, options);
  const choices = { name, ...(await chosen(context)) };
  const files = projectFiles({
    ...choices,
    ...(packages === undefined ? {} : { packages: pathTo(folder, packages) }),
  });
  if (before.length > 0 && !(await mayWrite(context, folder, { before, files })))
    return exitCodes.failed;
  writeFiles(folder, files);
  host.stdout.write(writtenLines(host, files));
  const proved = !options.install || (await verify(host, folder, { packages, choices }));
  host.stdout.write(nextLine(host, folder, options.install && proved));
  return proved ? exitCodes.ok : exitCodes.failed;
}

/** Entries of the folder that count. A repository without files is empty. */
function entriesOf(folder: string): readonly string[] {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory())
    throw new UsageError({ reason: `${folder} is a file. Name a folder: adjutant init shop.` });
  return readdirSync(folder).filter((name) => name !== '.git' && name !== '.DS_Store');
}

/** Name of the folder as npm takes it. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '');
  return name === '' ? 'my-app' : name;
}

async function chosen(context: InitContext): Promise<Omit<ProjectChoices, 'name' | 'packages'>> {
  const { host, options } = context;
  const template = known('template', options.template, templates);
  const store = known('store', options.store, stores);
  if (options.model !== undefined) parseModelName(options.model, host.env);
  const isAsked = options.yes !== true && host.stdin.isTTY && host.stdout.isTTY === true;
  const take = (title: string, choices: readonly Choice[]): Promise<Choice> =>
    isAsked ? choose(context, title, choices) : Promise.resolve(choices[0] as Choice);
  return {
    template: template ?? (await take('Template', templates)).value,
    model:
      options.model ?? (await take('Model', modelChoices(host.env, await modelsOfOllama()))).value,
    store: store ?? (await take('Store', stores)).value,
  };
}

/** Checks the value of a flag. @throws UsageError */
function known(
  flag: string,
  value: string | undefined,
  choices: readonly Choice[],
): string | undefined {
  if (value === undefined || choices.some((choice) => choice.value === value)) return value;
  const names = choices.map((choice) => choice.value).join(', ');
  throw new UsageError({ reason: `--${flag} ${value}: there is none. There are ${names}.` });
}

/** Asks a person before files are written beside others. @throws UsageError without a terminal */
async function mayWrite(
  context: InitContext,
  folder: string,
  { before, files }: { readonly before: readonly string[]; readonly files: readonly ProjectFile[] },
): Promise<boolean> {
  const { host } = context;
  const replaced = files.filter(({ path }) => existsSync(join(folder, path)));
  const found = before.length === 1 ? '1 entry' : `${before.length} entries`;
  const lines = [
    `${plainLine(folder)} is not empty (${found}). These files would be written:`,
    ...files.map((file) => `  ${file.path}${replaced.includes(file) ? '  (replaced)' : ''}`),
  ];
  host.stdout.write(`${lines.join('\n')}\n`);
  if (!host.stdin.isTTY || host.stdout.isTTY !== true)
    throw new UsageError({
      reason:
        'Nothing was written: the folder is not empty, and there is no terminal to ask in. Name ' +
        'a new folder: adjutant init shop.',
    });
  return agrees(context, 'Write them? (y/N)');
}

function writeFiles(folder: string, files: readonly ProjectFile[]): void {
  for (const { path, text } of files) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
}

const widestLine = 100;

function writtenLines(host: Host, files: readonly ProjectFile[]): string {
  const head = `wrote ${formatCount(files.length, 'file')}: `;
  const lines: string[] = [''];
  for (const { path } of files) {
    const line = lines.at(-1) as string;
    if (2 + head.length + line.length + path.length > widestLine) lines.push(path);
    else lines[lines.length - 1] = line === '' ? path : `${line} ${path}`;
  }
  const mark = styleFor(host.stdout).green('✓');
  return `${mark} ${head}${lines.join(`\n${' '.repeat(2 + head.length)}`)}\n`;
}

/**
 * Folder with packed packages: that of `--packages`. In a clone of the repository it is the one
 * that `npm run build` fills, because the packages are not on npm yet.
 */
function packagesFolder(host: Host, { packages }: InitOptions): string | undefined {
  if (packages !== undefined) {
    const folder = resolve(host.cwd, packages);
    const missing = neededTarballs().find((name) => !existsSync(join(folder, name)));
    if (missing === undefined) return folder;
    throw new UsageError({
      reason: `--packages: there is no ${missing} in ${folder}. npm run build makes it.`,
    });
  }
  const isSource = import.meta.url.endsWith('.ts');
  return isSource ? join(cloneFolder(), 'dist', 'packages') : undefined;
}

function cloneFolder(): string {
  return ownFile('../..');
}

function pathTo(folder: string, packages: string): string {
  return relative(folder, packages).split(sep).join('/');
}

function verify(
  host: Host,
  folder: string,
  { packages, choices }: { packages: string | undefined; choices: { readonly store: string } },
): Promise<boolean> {
  const missing =
    packages !== undefined && neededTarballs().some((name) => !existsSync(join(packages, name)));
  const hindrance = missing
    ? 'the packages of Adjutant are not on npm yet, and this clone has not packed them. ' +
      `Run: npm run build --prefix ${shellWord(cloneFolder())}`
    : undefined;
  if (choices.store === 'postgres' && !host.env['DATABASE_URL'])
    host.stdout.write('· DATABASE_URL is not set: the app needs it, its test and eval do not.\n');
  return verifyProject(host, folder, hindrance);
}

function nextLine(host: Host, folder: string, installed: boolean): string {
  const way = relative(host.cwd, folder);
  const parts = [
    ...(way === '' ? [] : [`cd ${shellWord(way)}`]),
    ...(installed ? [] : ['npm install']),
    'npx adjutant',
  ];
  return `Next:  ${parts.join(' && ')}\n`;
}
