import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agent, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { bench, repositoryRoot } from './run-cli.ts';

/** A module of an app with one session, whose store is or is not encrypted. */
async function shop(folder: string, isEncrypted: boolean): Promise<string> {
  const path = join(folder, 'shop.db');
  const greeter = agent({ name: 'greeter', model: scriptedModel([{ text: 'It is 4711.' }]) });
  const app = runtime({ app: 'shop', store: sqlite(path), recover: 'manual' });
  await app.run(greeter, { session: 'customer-7', input: 'What is my code?' });
  await app.close();
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  const plain = `sqlite(${JSON.stringify(path)})`;
  const keys =
    "localKeys({ keys: [{ id: 'k', secret: 'a random text of these tests, 0123456789' }] })";
  writeFileSync(
    join(folder, 'adjutant.config.ts'),
    `import { runtime } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { sqlite } from 'adjutant/sqlite';
export const app = runtime({ app: 'shop', store: ${isEncrypted ? `encrypted(${plain}, { keys: ${keys} })` : plain} });
`,
  );
  return path;
}

test('encrypt seals the sessions of the app, once, and they are listed afterwards', async () => {
  const { run, folder } = bench();
  const path = await shop(folder, true);
  const unsealed = await run(['show', 'customer-7'], { cwd: folder });
  expect(unsealed).toMatchObject({ code: 1, stdout: '' });
  expect(unsealed.stderr).toContain('from a time without encryption');
  expect(unsealed.stderr).toContain('adjutant encrypt');
  const [first, again, json, sessions] = [
    await run(['encrypt'], { cwd: folder }),
    await run(['encrypt'], { cwd: folder }),
    await run(['encrypt', '--only', 'shop', '--json'], { cwd: folder }),
    await run(['sessions'], { cwd: folder }),
  ];
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(/shop\.db: encrypted 1 session, \d+ events, 0 requests/);
  expect(again.stdout).toBe(`${path}: everything was encrypted already\n`);
  expect(JSON.parse(json.stdout)).toMatchObject({ type: 'encrypt', sessions: 0, events: 0 });
  expect(sessions.stdout).toContain('What is my code?');
  expect(readFileSync(path, 'latin1')).not.toContain('4711');
});

test('encrypt says what is missing: a module, a store that is encrypted', async () => {
  const { run, folder } = bench();
  const none = await run(['encrypt'], { cwd: folder });
  expect(none).toMatchObject({ code: 2, stdout: '' });
  expect(none.stderr).toContain('works on the store of your app: write adjutant.config.ts');
  await shop(folder, false);
  const plain = await run(['encrypt'], { cwd: folder });
  expect(plain).toMatchObject({ code: 2, stdout: '' });
  expect(plain.stderr).toContain('The store of adjutant.config.ts is not encrypted. Give the app');
});

test('encrypt waits for no other process: a file that is in use is refused', async () => {
  const { run, folder } = bench();
  const path = await shop(folder, true);
  const other = runtime({ app: 'shop', store: sqlite(path), recover: 'manual' });
  await other.sessions.list();
  const refused = await run(['encrypt'], { cwd: folder });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('another process has it open; stop every process');
  await other.close();
  expect((await run(['encrypt'], { cwd: folder })).code).toBe(0);
});
