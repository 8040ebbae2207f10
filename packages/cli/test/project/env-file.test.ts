/** Variables of `.env`: whose file counts, what it may set, and that no error tells a value. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bench, repositoryRoot } from '../run-cli.ts';

const core = join(repositoryRoot, 'packages/core/src/index.ts');

/** An app whose name is that of a variable. */
const config = `import { runtime } from ${JSON.stringify(core)};
export const app = runtime({ app: process.env.SHOP ?? 'nameless', runnables: [] });
`;

test('is read beside the configuration, and does not replace what is set', async () => {
  const { start, folder } = bench();
  writeFileSync(join(folder, 'adjutant.config.ts'), config);
  writeFileSync(join(folder, '.env'), 'SHOP="from the file"\n');
  const below = join(folder, 'a/b');
  mkdirSync(below, { recursive: true });
  const named = (text: string): object => ({ stdout: expect.stringContaining(`"${text}"`) });
  expect(await start(['sessions'], { cwd: folder }).finished).toMatchObject(named('from the file'));
  expect(await start(['sessions'], { cwd: below }).finished).toMatchObject(named('from the file'));
  const env = { SHOP: 'from the shell' };
  expect(await start(['sessions'], { cwd: folder, env }).finished).toMatchObject(
    named('from the shell'),
  );
});

test.each([
  ['OPENAI_API_KEY=sk-1', false],
  ['ADJUTANT_MODEL=openai-compatible:m@http://127.0.0.1:1/v1', true],
  ['SOME=thing', true],
])('without a configuration, %s is left out: %s', async (line, isRehearsed) => {
  const { run, folder } = bench();
  writeFileSync(join(folder, '.env'), `${line}\n`);
  const { stdout } = await run(['init', 'shop', '--yes', '--no-install'], { cwd: folder });
  expect(stdout).toContain('✓ wrote');
  const code = readFileSync(join(folder, 'shop/src/agent.ts'), 'utf8');
  expect(code.includes("|| 'rehearsal'")).toBe(isRehearsed);
});

test('a command without a configuration of its own takes only keys', async () => {
  const { run, folder } = bench();
  writeFileSync(join(folder, 'adjutant.config.ts'), config);
  writeFileSync(join(folder, '.env'), 'ADJUTANT_MODEL=ollama:m\nGEMINI_API_KEY=k\n');
  await run(['init', 'shop', '--yes', '--no-install'], { cwd: folder });
  const code = readFileSync(join(folder, 'shop/src/agent.ts'), 'utf8');
  expect(code).toContain("|| 'gemini:gemini-3-flash-preview'");
});

test('a file that cannot be read is named', async () => {
  const { run, folder } = bench();
  mkdirSync(join(folder, '.env'));
  const { code, stderr } = await run(['sessions'], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toBe(`adjutant: ${join(folder, '.env')} cannot be read (EISDIR).\n`);
});
