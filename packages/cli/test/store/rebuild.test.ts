import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { expect, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

const quick = step({ name: 'quick', execute: async (ctx) => ctx.complete('done') });

/** A store with two tasks, whose rows were lost. */
async function shop() {
  const { folder, run } = bench();
  const path = join(folder, 'shop.db');
  const app = runtime({ app: 'shop', store: sqlite(path), runnables: [quick], recover: 'manual' });
  const first = await app.submit(quick, 'x', { key: 'first' });
  await app.submit(quick, 'x', { key: 'second' });
  await app.tenants.get('north').submit(quick, 'x', { key: 'third' });
  await app.close();
  const execute = (statement: string): void => {
    const database = new DatabaseSync(path);
    database.exec(statement);
    database.close();
  };
  const rebuild = (...args: string[]) =>
    run(['rebuild', '--store', path, '--app', 'shop', ...args]);
  return { execute, rebuild, session: first.session };
}

test('rebuild says what differs, and mends it', async () => {
  const { execute, rebuild, session } = await shop();
  expect(await rebuild()).toMatchObject({
    code: 0,
    stderr: '',
    stdout: '0 of 2 sessions changed.\n',
  });
  execute("delete from turns; update listed_rows set status = 'failed'");
  const found = await rebuild('--dry-run');
  expect(found).toMatchObject({ code: 1, stderr: '' });
  expect(found.stdout).toContain(`${session}: the task "`);
  expect(found.stdout).toContain('differs in status; the turn is missing\n');
  expect(found.stdout).toContain('2 of 2 sessions would be changed.\n');
  const one = await rebuild('--session', session, '--json');
  expect(one.code).toBe(0);
  expect(jsonLines(one.stdout)).toMatchObject([
    { type: 'rebuilt', session, differences: [{ row: 'task' }, { row: 'turn' }] },
    { type: 'rebuild', dryRun: false, sessions: 1, rebuilt: 1, held: 0, failed: 0 },
  ]);
  expect((await rebuild()).stdout).toContain('1 of 2 sessions changed.\n');
  expect((await rebuild('--dry-run')).code).toBe(0);
  const north = await rebuild('--tenant', 'north');
  expect(north.stdout).toContain('1 of 1 session changed.\n');
});

test('rebuild refuses what it cannot do, and goes on beside a ledger that is damaged', async () => {
  const { execute, rebuild, session } = await shop();
  const none = await rebuild('--session', 'none');
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('none') });
  const tenant = await rebuild('--tenant', 'south');
  expect(tenant).toMatchObject({ code: 2, stderr: expect.stringContaining('"south"') });
  const server = await rebuild('--server', 'http://127.0.0.1:1');
  expect(server).toMatchObject({ code: 2, stdout: '' });
  expect(server.stderr).toContain('works on a store that this machine can open');
  execute(`delete from turns;
    update inbox set data = 'no JSON' where id = (select max(id) from inbox where ledger =
      (select id from ledgers where session = '${session}'))`);
  const damaged = await rebuild('--json');
  expect(damaged.code).toBe(1);
  expect(jsonLines(damaged.stdout).at(-1)).toMatchObject({ rebuilt: 1, failed: 1 });
});
