import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { defined } from 'adjutant/text';
import { ownFile, ownManifest } from '../own-package.ts';
import type { Choice } from './choose.ts';

/** Answers to what `adjutant init` asks, and the name of the project. */
export interface ProjectChoices {
  readonly name: string;
  readonly template: string;
  /** Name of the model, as `parseModelName` reads it. */
  readonly model: string;
  readonly store: string;
  /** Folder with packed packages of Adjutant, relative to the project. @default the registry */
  readonly packages?: string;
}

export interface ProjectFile {
  /** Path below the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

export const templates: readonly Choice[] = [
  { value: 'assistant', label: 'assistant with one tool' },
  { value: 'coder', label: 'coder' },
  { value: 'researcher', label: 'researcher' },
  { value: 'team', label: 'team of three' },
];

export const stores: readonly Choice[] = [
  { value: 'sqlite', label: 'SQLite in .adjutant/' },
  { value: 'postgres', label: 'PostgreSQL (DATABASE_URL)' },
  { value: 'memory', label: 'memory' },
];

const folder = ownFile('templates');
/** Texts that stand in the templates for what is chosen. */
const placeholders = { name: 'my-app', model: "'rehearsal'" } as const;
/** Files whose names git and npm would act on, if the templates had them. */
const writtenAs: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'env.example': '.env.example',
};
/** Order of the files that people read first. The others lie between them. */
const first = ['package.json', 'tsconfig.json', 'adjutant.config.ts'];
const last = ['test/', 'eval/', '.env.example', '.gitignore', 'README.md'];

/** Files of a project, in the order in which they are listed. */
export function projectFiles(choices: ProjectChoices): readonly ProjectFile[] {
  const texts = new Map([
    ...filesBelow(join(folder, 'common')),
    ...filesBelow(join(folder, choices.template)),
    ['src/store.ts', readFileSync(join(folder, 'stores', `${choices.store}.ts`), 'utf8')],
  ]);
  return [...texts]
    .map(([path, text]) => ({
      path,
      text: path === 'package.json' ? manifest(text, choices) : filledIn(path, text, choices),
    }))
    .sort((a, b) => placeOf(a.path) - placeOf(b.path) || (a.path < b.path ? -1 : 1));
}

function filesBelow(home: string): readonly [path: string, text: string][] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = relative(home, path).split(sep).join('/');
      return [writtenAs[name] ?? name, readFileSync(path, 'utf8')];
    });
}

function placeOf(path: string): number {
  const early = first.indexOf(path);
  if (early >= 0) return early;
  const late = last.findIndex((start) => path.startsWith(start));
  return first.length + (late < 0 ? 0 : late + 1);
}

function filledIn(path: string, text: string, { name, model }: ProjectChoices): string {
  const named = text.replaceAll(placeholders.name, name);
  if (!path.endsWith('.ts')) return named;
  const literal = `'${model.replace(/[\\']/g, '\\$&')}'`;
  return named.replaceAll(placeholders.model, () => literal);
}

interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Packages of the AI SDK by the providers of model names. */
const providerPackages: Readonly<Record<string, string>> = {
  openai: '@ai-sdk/openai',
  gemini: '@ai-sdk/google',
  claude: '@ai-sdk/anthropic',
  ollama: '@ai-sdk/openai-compatible',
  'openai-compatible': '@ai-sdk/openai-compatible',
};
/** The version with which `adjutant/postgres` is tested. */
const pgVersion = '^8.23.1';
const ownPackages = ['@adjutant/cli', 'adjutant', '@adjutant/server'] as const;

function manifest(text: string, { name, model, store, packages }: ProjectChoices): string {
  const written = JSON.parse(text) as Manifest;
  const own = ownManifest();
  const provider = providerPackages[model.split(':', 1)[0] as string];
  const packed = packages === undefined ? {} : packedIn(packages, own.version);
  const dependencies = {
    ...written.dependencies,
    ...(provider === undefined ? {} : { [provider]: `^${own.dependencies[provider]}` }),
    ...defined({ pg: store === 'postgres' ? pgVersion : undefined }),
    ...packed,
  };
  const { '@adjutant/server': server, ...direct } = dependencies as Record<string, string>;
  const overrides = server === undefined ? undefined : { '@adjutant/server': server };
  const sorted = Object.fromEntries(Object.entries(direct).sort(([a], [b]) => (a < b ? -1 : 1)));
  const filled = { ...written, name, dependencies: sorted, ...defined({ overrides }) };
  return `${JSON.stringify(filled, undefined, 2)}\n`;
}

function packedIn(packages: string, version: string): Readonly<Record<string, string>> {
  const files = ownPackages.map((name) => [name, `file:${packages}/${tarballName(name, version)}`]);
  return Object.fromEntries(files) as Readonly<Record<string, string>>;
}

/** Name of the file that `npm pack` makes. */
function tarballName(name: string, version: string): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}

/** Names of the packed packages that a project needs. */
export function neededTarballs(): readonly string[] {
  const { version } = ownManifest();
  return ownPackages.map((name) => tarballName(name, version));
}
