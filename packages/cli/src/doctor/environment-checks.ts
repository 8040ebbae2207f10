import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment, Host, OutputStream } from '../host/host.ts';
import { ownManifest } from '../own-package.ts';
import { type Finding, failure, ok } from './finding.ts';

const require = createRequire(import.meta.url);

function versionOf(name: string, from: NodeJS.Require): string | undefined {
  try {
    return (from(`${name}/package.json`) as { readonly version: string }).version;
  } catch {
    return undefined;
  }
}

/** Versions of Node and of the packages. The user's own copy of `adjutant` is one of them. */
export function checkVersions(config: string | undefined): Finding {
  const node = process.versions.node.split('.').slice(0, 2).join('.');
  const own = config === undefined ? undefined : versionOf('adjutant', createRequire(config));
  const versions: readonly (readonly [name: string, version: string | undefined])[] = [
    ['core', own ?? versionOf('adjutant', require)],
    ['cli', ownManifest().version],
    ['server', versionOf('@adjutant/server', require)],
  ];
  const distinct = new Set(versions.map(([, version]) => version));
  const [[, core]] = versions as [readonly [string, string | undefined]];
  if (distinct.size === 1) return ok(`node ${node} · adjutant ${core} (core, cli, server agree)`);
  const named = versions.map(([name, version]) => `${name} ${version ?? 'not found'}`).join(', ');
  return failure(`node ${node} · packages of different versions: ${named}. Install one version.`);
}

/** A `.env` with values that git would take along. @returns nothing where there is no such file */
export async function checkEnvFile(file: string | undefined): Promise<readonly Finding[]> {
  if (file === undefined) return [];
  const names = Object.keys(parseEnv(readFileSync(file, 'utf8')));
  const folder = dirname(file);
  const name = basename(file);
  if ((await git(folder, ['rev-parse', '--is-inside-work-tree'])) !== 0)
    return [ok(`${name} has ${listed(names)}; the folder is no git repository`)];
  if ((await git(folder, ['ls-files', '--error-unmatch', name])) === 0)
    return [failure(`${name} has ${listed(names)}, and git tracks it: git rm --cached ${name}`)];
  const isIgnored = (await git(folder, ['check-ignore', '--quiet', name])) === 0;
  return [
    isIgnored
      ? ok(`${name} has ${listed(names)}, and git ignores it`)
      : failure(`${name} has ${listed(names)}, and git does not ignore ${name}`),
  ];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'no variables' : names.join(', ');
}

function git(cwd: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile('git', args, { cwd }, () => resolve(child.exitCode ?? 1));
  });
}

/** The terminal, as far as its environment tells what it can do. */
export function checkTerminal({ stdout, env }: Pick<Host, 'stdout' | 'env'>): Finding {
  if (stdout.isTTY !== true) return ok('terminal: none, the output goes elsewhere');
  const { columns = 80, rows = 24 } = stdout as OutputStream & { readonly rows?: number };
  const parts = [
    `${columns}×${rows}`,
    isUtf8(env) ? 'UTF-8' : 'no UTF-8 in LC_ALL, LC_CTYPE or LANG: signs are ASCII',
    ...(hasLinks(env) ? ['links'] : []),
    ...(hasKittyKeys(env) ? ['kitty keys'] : []),
  ];
  return ok(`terminal ${parts.join(', ')}`);
}

function isUtf8(env: Environment): boolean {
  return /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '');
}

const withLinks = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper)$/;
const withKittyKeys = /^(?:WezTerm|ghostty)$/;

function hasLinks({ TERM_PROGRAM = '', TERM = '', VTE_VERSION }: Environment): boolean {
  return withLinks.test(TERM_PROGRAM) || /kitty/.test(TERM) || VTE_VERSION !== undefined;
}

function hasKittyKeys({ TERM_PROGRAM = '', TERM = '' }: Environment): boolean {
  return withKittyKeys.test(TERM_PROGRAM) || /kitty|foot/.test(TERM);
}
