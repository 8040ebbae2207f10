import { chmodSync, cpSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../run-cli.ts';

/** A page whose build waits until a file says that it may go on, and fails without its source. */
const build = `
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
const out = process.argv[process.argv.indexOf('--outDir') + 1];
while (!existsSync('go')) await wait(20);
const source = readFileSync('src/page.html', 'utf8');
if (source.includes('broken')) throw new Error('no such module: broken');
mkdirSync(out, { recursive: true });
cpSync('src/page.html', out + '/index.html');
`;

export interface Clone {
  /** The program of the clone. */
  readonly program: string;
  /** Lets builds go on. */
  letBuild(): void;
  /** Changes the source of the page; `seconds` after it was last changed. */
  write(html: string, seconds?: number): void;
}

/** A clone of the repository with a dashboard that is built in a moment, without packages. */
export function cloneIn(folder: string): Clone {
  const root = join(folder, 'clone');
  const dashboard = join(root, 'packages/dashboard');
  mkdirSync(join(dashboard, 'src'), { recursive: true });
  mkdirSync(join(root, 'scripts'));
  for (const path of ['scripts/dashboard.ts', 'packages/cli/package.json', 'packages/cli/dist'])
    cpSync(join(repositoryRoot, path), join(root, path), { recursive: true });
  symlinkSync(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'));
  const manifest = { name: 'page', version: '1.0.0', scripts: { build: 'node build.mjs' } };
  const { scripts: _, ...locked } = manifest;
  writeFileSync(join(dashboard, 'package.json'), JSON.stringify(manifest));
  const lock = { ...locked, lockfileVersion: 3, requires: true, packages: { '': locked } };
  writeFileSync(join(dashboard, 'package-lock.json'), JSON.stringify(lock));
  writeFileSync(join(dashboard, 'build.mjs'), build);
  const source = join(dashboard, 'src/page.html');
  writeFileSync(source, '<html><head></head>One</html>');
  return {
    program: join(root, 'packages/cli/dist/main.js'),
    letBuild: () => writeFileSync(join(dashboard, 'go'), ''),
    write: (html, seconds = 0) => {
      writeFileSync(source, html);
      const at = Date.now() / 1_000 + seconds;
      utimesSync(source, at, at);
    },
  };
}

/** A folder with a program by which addresses are opened: it writes its argument to a file. */
export function openerIn(
  folder: string,
  code = 0,
): { readonly path: string; readonly told: string } {
  const path = join(folder, 'bin');
  const told = join(folder, 'opened');
  mkdirSync(path);
  const program = join(path, 'xdg-open');
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s' "$1" > '${told}.part'\nmv '${told}.part' '${told}'\nexit ${code}\n`,
  );
  chmodSync(program, 0o755);
  return { path, told };
}
