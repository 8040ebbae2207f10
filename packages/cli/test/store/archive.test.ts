import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { expect, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

test('archive moves a session into a file, and restore brings it back', async () => {
  const { folder, run } = bench();
  const path = join(folder, 'shop.db');
  const quick = step({ name: 'quick', execute: async (ctx) => ctx.complete('done') });
  const app = runtime({ app: 'shop', store: sqlite(path), runnables: [quick], recover: 'manual' });
  await app.run(quick, { session: 'old' });
  await app.close();
  const store = ['--store', path, '--app', 'shop'];
  const file = join(folder, 'old.jsonl');

  const archived = await run(['archive', 'old', '-o', file, ...store]);
  expect(archived).toMatchObject({ code: 0, stderr: '' });
  expect(archived.stdout).toMatch(/^old: \d+ events, 0 large values moved to .*old\.jsonl\n$/);
  expect(existsSync(file)).toBe(true);
  expect((await run(['show', 'old', ...store])).code).not.toBe(0);
  const again = await run(['archive', 'old', '-o', join(folder, 'other'), ...store]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toContain('old');

  const restored = await run(['restore', file, '--json', ...store]);
  expect(jsonLines(restored.stdout)).toMatchObject([{ type: 'restore', session: 'old', file }]);
  expect((await run(['show', 'old', ...store])).code).toBe(0);
  const taken = await run(['archive', 'old', '-o', file, ...store]);
  expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be used') });
  const missing = await run(['restore', join(folder, 'none'), ...store]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('none') });
});
