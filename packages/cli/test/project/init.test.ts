/** `adjutant init`: files that it writes, and what it refuses. e2e/newcomer installs a project. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bench, repositoryRoot } from '../run-cli.ts';

/** A folder below the repository, where projects find the packages. */
function folderBelowRoot(): string {
  const parent = join(repositoryRoot, 'dist');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'init-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

const written = [
  '.env.example',
  '.gitignore',
  'README.md',
  'adjutant.config.ts',
  'eval/basic.yaml',
  'package.json',
  'src/agent.ts',
  'src/store.ts',
  'src/tools/invoices.ts',
  'test/agent.test.ts',
  'tsconfig.json',
];

describe('a project', () => {
  test('is written into a new folder, and each file is named', async () => {
    const { run, folder } = bench();
    const { code, stdout, stderr } = await run(['init', 'My Shop', '--no-install'], {
      cwd: folder,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(filesBelow(join(folder, 'My Shop'))).toEqual(written);
    expect(stdout).toMatch(/^✓ wrote 11 files: package\.json tsconfig\.json adjutant\.config\.ts/);
    for (const file of written) expect(stdout).toContain(file);
    expect(stdout).toContain("Next:  cd 'My Shop' && npm install && npx adjutant\n");
    const manifest = readFileSync(join(folder, 'My Shop/package.json'), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ name: 'my-shop', type: 'module' });
    expect(filesBelow(join(folder, 'My Shop')).join()).not.toContain('my-app');
  });

  test.each(['assistant', 'coder', 'researcher', 'team'])(
    'of the template %s passes its test and its eval',
    async (template) => {
      const { run } = bench();
      const cwd = folderBelowRoot();
      expect(await run(['init', '--template', template, '--no-install'], { cwd })).toMatchObject({
        code: 0,
      });
      const args = ['--test', 'test/agent.test.ts'];
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env });
      expect(stdout).toMatch(/pass 1$/m);
      const measured = await run(['eval', 'eval/basic.yaml', '--store', ':memory:'], {
        cwd,
        env: { ADJUTANT_MODEL: 'rehearsal' },
      });
      expect(measured).toMatchObject({ code: 0, stderr: expect.stringContaining('1 passed') });
    },
  );

  test.each([
    ['sqlite', /sqlite\(join\(folder, 'shop\.db'\)\)/, false],
    ['postgres', /postgres\(process\.env\['DATABASE_URL'\]/, true],
    ['memory', /memoryStore\(\)/, false],
  ])('keeps its sessions in %s', async (store, code, needsPg) => {
    const { run, folder } = bench();
    await run(['init', 'shop', '--store', store, '--no-install'], { cwd: folder });
    expect(readFileSync(join(folder, 'shop/src/store.ts'), 'utf8')).toMatch(code);
    const manifest = readFileSync(join(folder, 'shop/package.json'), 'utf8');
    expect(manifest.includes('"pg"')).toBe(needsPg);
  });

  test('has the model that was named, and the package of its provider', async () => {
    const { run, folder } = bench();
    const args = ['init', 'shop', '--model', 'claude:claude-sonnet-4-5', '--no-install'];
    await run(args, { cwd: folder });
    expect(readFileSync(join(folder, 'shop/src/agent.ts'), 'utf8')).toContain(
      "process.env['ADJUTANT_MODEL'] || 'claude:claude-sonnet-4-5'",
    );
    expect(readFileSync(join(folder, 'shop/package.json'), 'utf8')).toContain('@ai-sdk/anthropic');
  });

  test('has the model of a key that is set', async () => {
    const { run, folder } = bench();
    await run(['init', 'shop', '--yes', '--no-install'], {
      cwd: folder,
      env: { GEMINI_API_KEY: 'a key' },
    });
    const code = readFileSync(join(folder, 'shop/src/agent.ts'), 'utf8');
    expect(code).toContain("|| 'gemini:gemini-3-flash-preview'");
    expect(code).not.toContain('a key');
  });
});

describe('a folder', () => {
  test('that is not empty is left alone without a terminal', async () => {
    const { run, folder } = bench();
    writeFileSync(join(folder, 'README.md'), 'mine');
    const { code, stdout, stderr } = await run(['init', '--yes', '--no-install'], { cwd: folder });
    expect(code).toBe(2);
    expect(stdout).toContain('is not empty (1 entry). These files would be written:');
    expect(stdout).toContain('\n  README.md  (replaced)\n');
    expect(stdout).toContain('\n  src/agent.ts\n');
    expect(stderr).toContain('Nothing was written');
    expect(filesBelow(folder)).toEqual(['README.md']);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('mine');
  });

  test('that has only a repository is empty', async () => {
    const { run, folder } = bench();
    mkdirSync(join(folder, '.git'));
    expect(await run(['init', '--no-install'], { cwd: folder })).toMatchObject({ code: 0 });
  });

  test('that is a file is refused', async () => {
    const { run, folder } = bench();
    writeFileSync(join(folder, 'shop'), '');
    expect(await run(['init', 'shop', '--no-install'], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a file. Name a folder'),
    });
  });
});

test.each([
  [['--template', 'chef'], /--template chef: there is none\. There are assistant, coder,/],
  [['--store', 'mysql'], /--store mysql: there is none\. There are sqlite, postgres, memory/],
  [['--model', 'gpt'], /gpt/],
  [['--packages', 'nowhere'], /--packages: there is no adjutant-cli-.*\.tgz in .*nowhere/],
])('%j is refused, and nothing is written', async (args, reason) => {
  const { run, folder } = bench();
  const { code, stderr } = await run(['init', 'shop', ...args], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toMatch(reason);
  expect(existsSync(join(folder, 'shop'))).toBe(false);
});

test('packages that were not packed are named, and the project is written', async () => {
  const { run, folder } = bench();
  // Below a clone without packed packages an installation cannot succeed.
  const { code, stdout } = await run(['init', 'shop', '--template', 'coder'], {
    cwd: folder,
    env: { PATH: folder },
  });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ npm install: /m);
  expect(stdout).toContain('Next:  cd shop && npm install && npx adjutant');
  expect(existsSync(join(folder, 'shop/package.json'))).toBe(true);
});

test('the versions of packages in projects are those of this repository', () => {
  const read = (path: string): Record<string, Record<string, string>> =>
    JSON.parse(readFileSync(join(repositoryRoot, path), 'utf8'));
  const { version } = read('packages/cli/package.json') as { version?: unknown };
  const { devDependencies } = read('package.json');
  const template = read('packages/cli/templates/common/package.json');
  expect({ ...template['dependencies'], ...template['devDependencies'] }).toEqual({
    '@adjutant/cli': `^${version}`,
    adjutant: `^${version}`,
    zod: `^${devDependencies?.['zod']}`,
    '@types/node': `^${devDependencies?.['@types/node']}`,
    typescript: `^${devDependencies?.['typescript']}`,
    yaml: `^${read('packages/core/package.json')['devDependencies']?.['yaml']}`,
  });
});
