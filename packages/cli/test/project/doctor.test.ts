/** `adjutant doctor`: what it finds right, what it finds wrong, and its exit codes. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bench, jsonLines, repositoryRoot } from '../run-cli.ts';

/** A folder below the repository, where projects find the packages. */
function projectFolder(files: Readonly<Record<string, string>>): string {
  const parent = join(repositoryRoot, 'dist');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const config = `import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { sendMail } from './src/mail.ts';
const coder = agent({ name: 'coder', model: 'rehearsal', tools: [sendMail] });
export const app = runtime({ app: 'shop', store: sqlite('FOLDER/shop.db'), runnables: [coder] });
`;
const mail = `import { tool } from 'adjutant';

export const sendMail = tool({
  name: 'sendMail',
  description: 'Sends a mail',
  schema: { type: 'object' },
  execute: () => 'sent',
});
`;

function shop(changes: Readonly<Record<string, string>> = {}): string {
  const folder = projectFolder({ 'src/mail.ts': mail, ...changes });
  writeFileSync(join(folder, 'adjutant.config.ts'), config.replace('FOLDER', folder));
  return folder;
}

test('a project in order: versions, config, store, model, and no error', async () => {
  const { run } = bench();
  const cwd = shop({
    'src/mail.ts': mail.replace('execute:', "recovery: 'rerun',\n  execute:"),
  });
  const { code, stdout, stderr } = await run(['doctor'], { cwd });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^✓ node 24\.\d+ · adjutant [\d.]+ \(core, cli, server agree\)$/m);
  expect(stdout).toMatch(/^✓ config adjutant\.config\.ts: app shop; coder$/m);
  expect(stdout).toMatch(/shop\.db: SQLite, 0 sessions, mode 0\d{3}/);
  expect(stdout).toMatch(/^✓ model rehearsal:rules answered in /m);
  expect(stdout).toContain('✓ terminal: none');
  expect(code).toBe(0);
});

test('a store that others may read is a warning, which is no failure', async () => {
  const { run } = bench();
  const cwd = shop();
  await run(['sessions'], { cwd });
  chmodSync(cwd, 0o755);
  chmodSync(join(cwd, 'shop.db'), 0o644);
  const { code, stdout } = await run(['doctor', '--offline'], { cwd });
  expect(stdout).toMatch(/^! store shop\.db: .* mode 0644: others may read it/m);
  expect(stdout).toContain('✓ model rehearsal:rules (--offline: not asked)');
  expect(stdout).toMatch(/^! tool sendMail declares no recovery: .* \(src\/mail\.ts:4\)$/m);
  expect(stdout).toMatch(/2 to mend: 2 warnings \(exit code 0\)\n$/);
  expect(code).toBe(0);
});

test('keys in a file that git does not ignore are an error, without their values', async () => {
  const { run } = bench();
  const cwd = shop({ '.env': 'OPENAI_API_KEY=sk-secret\n' });
  execFileSync('git', ['init', '--quiet'], { cwd });
  const wrong = await run(['doctor', '--offline'], { cwd });
  expect(wrong.stdout).toContain('✗ .env has OPENAI_API_KEY, and git does not ignore .env\n');
  expect(wrong.stdout).not.toContain('sk-secret');
  expect(wrong.code).toBe(1);
  writeFileSync(join(cwd, '.gitignore'), '.env\n');
  const right = await run(['doctor', '--offline'], { cwd });
  expect(right.stdout).toContain('✓ .env has OPENAI_API_KEY, and git ignores it\n');
  expect(right.code).toBe(0);
});

test('a configuration that cannot be loaded is an error with its reason', async () => {
  const { run } = bench();
  const cwd = projectFolder({ 'adjutant.config.ts': 'export const shop = 1;\n' });
  const { code, stdout } = await run(['doctor'], { cwd });
  expect(stdout).toMatch(/^✗ config adjutant\.config\.ts: .*exports no app \(but shop\)/m);
  expect(stdout).toMatch(/1 to mend: 1 error \(exit code 1\)\n$/);
  expect(code).toBe(1);
});

test('a model that does not answer is an error', async () => {
  const { run, folder } = bench();
  const env = { ADJUTANT_MODEL: 'openai-compatible:m@http://127.0.0.1:9/v1' };
  const { code, stdout } = await run(['doctor', '--json'], { cwd: folder, env });
  const [model] = jsonLines(stdout).filter(({ text }) => String(text).startsWith('model '));
  expect(model).toMatchObject({ type: 'check', level: 'error' });
  expect(code).toBe(1);
});

test('without a configuration the built-in agent is looked at', async () => {
  const { run, folder } = bench();
  const { code, stdout } = await run(['doctor'], { cwd: folder });
  expect(stdout).toContain('✓ no adjutant.config.ts from here up: the built-in agent assistant');
  expect(stdout).toContain('✓ store: none yet, the first run makes it');
  expect(code).toBe(0);
});
