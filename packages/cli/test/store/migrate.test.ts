import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newSchema, reasonToSkip, serverUrl } from '../../../core/test/stores/postgres/server.ts';
import { bench, jsonLines, repositoryRoot } from '../run-cli.ts';

/** A module of an app whose store is made by an expression. */
function shop(store: string) {
  const { folder, run } = bench();
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(
    join(folder, 'adjutant.config.ts'),
    `import { runtime, step } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
const quick = step({ name: 'quick', execute: async (ctx) => ctx.complete('done') });
export const app = runtime({ app: 'shop', store: ${store}, runnables: [quick], recover: 'manual' });
`,
  );
  return { folder, migrate: (...args: string[]) => run(['migrate', ...args], { cwd: folder }) };
}

describe.skipIf(reasonToSkip !== undefined)('migrate of a store in PostgreSQL', () => {
  test('makes its tables, and partitions its events once', async () => {
    const schema = newSchema();
    onTestFinished(() => schema.drop());
    const { migrate } = shop(
      `postgres(${JSON.stringify(serverUrl)}, { schema: '${schema.name}', connections: 2 })`,
    );
    const name = `PostgreSQL schema "${schema.name}"`;
    expect(await migrate()).toMatchObject({ code: 0, stdout: `${name}: up to date\n` });
    const event = "(ledger, seq, at, type, actor, path, body) values (1, 1, 0, 0, '', '', '')";
    await schema.query(`insert into "${schema.name}".events ${event}`);
    expect(await migrate('--partition')).toMatchObject({
      ...{ code: 0, stderr: '', stdout: `${name}: 1 event moved into 16 partitions\n` },
    });
    const again = await migrate('--partition', '16', '--json');
    expect(jsonLines(again.stdout)).toEqual([
      { type: 'migrate', store: name, partitions: 16, moved: 0 },
    ]);
    const other = await migrate('--partition', '8');
    expect(other).toMatchObject({ stdout: '', stderr: expect.stringContaining('16 partitions') });
    expect(other.code).not.toBe(0);
  });
});

test('migrate refuses what has no partitions, and what is no number', async () => {
  const { folder, migrate } = shop("sqlite('shop.db')");
  expect(await migrate('--partition')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('only a store in PostgreSQL can have them'),
  });
  expect((await migrate()).stdout).toBe('shop.db: up to date\n');
  expect(await migrate('--server', 'http://127.0.0.1:1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Leave --server out'),
  });
  writeFileSync(join(folder, 'adjutant.config.ts'), '');
  expect((await migrate('--partition', 'many')).code).toBe(2);
  const none = await bench().run(['migrate']);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('adjutant.config.ts') });
});
