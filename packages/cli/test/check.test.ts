import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { expect, test } from 'vitest';
import { bench, jsonLines, repositoryRoot } from './run-cli.ts';

/** A module of an app whose tool has a name, for one store. */
function configFor(path: string, toolName: string): string {
  return `import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
const model = scriptedModel([{ toolCalls: [{ name: 'refund', args: {} }] }, { text: 'Done' }]);
const refund = tool({ name: '${toolName}', description: 'Refunds', schema: { type: 'object', properties: {} }, approval: true, execute: () => 'refunded' });
export const clerk = agent({ name: 'clerk', model, tools: [refund] });
export const app = runtime({ app: 'shop', store: sqlite(${JSON.stringify(path)}), runnables: [clerk] });
`;
}

async function waitingShop() {
  const { folder, run } = bench();
  const path = join(folder, 'shop.db');
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  const write = (toolName: string): void =>
    writeFileSync(join(folder, 'adjutant.config.ts'), configFor(path, toolName));
  write('refund');
  // The module is evaluated once more by each command.
  const { app, clerk } = await import(join(folder, 'adjutant.config.ts'));
  await app.run(clerk, { session: 'customer-7', input: 'Refund' });
  await app.close();
  return { path, write, check: (...args: string[]) => run(['check', ...args], { cwd: folder }) };
}

test('check tells which open runs can go on, and what says nothing of recovery', async () => {
  const { path, write, check } = await waitingShop();
  const store = sqlite(path);
  const ledgers = store.for({ tenant: 'default', app: 'shop' });
  const before = await ledgers.head('customer-7');
  const same = await check();
  expect(same).toMatchObject({ code: 0, stderr: '' });
  expect(same.stdout).toContain('✓ customer-7 (clerk)\n1 open run: 1 can go on, 0 cannot');
  expect(same.stdout).toContain('Tools that say nothing of recovery: clerk/refund.');
  write('repay');
  const renamed = await check('customer-7');
  expect(renamed).toMatchObject({ code: 1, stderr: '' });
  expect(renamed.stdout).toContain('✗ customer-7 (clerk): ledger_mismatch: the call');
  expect(renamed.stdout).toContain('and "clerk" has no tool "refund"');
  const [session, summary] = jsonLines((await check('--json')).stdout);
  expect(session).toMatchObject({ type: 'session', verdict: 'refused', code: 'ledger_mismatch' });
  expect(summary).toMatchObject({ type: 'check', undeclaredTools: ['clerk/repay'] });
  // A session that is named twice counts once.
  const twice = await check(
    'customer-7',
    'customer-7',
    '--tenant',
    'default',
    '--tenant',
    'default',
  );
  expect(twice).toMatchObject({ code: 1, stdout: expect.stringContaining('\n1 open run: 0 can') });
  const other = await check('--tenant', 'acme');
  expect(other).toMatchObject({ code: 0, stderr: '' });
  expect(other.stdout).toContain('0 open runs');
  expect(await ledgers.head('customer-7')).toEqual(before);
  await store.close();
});

test('check needs an app, and a session that exists', async () => {
  const { run, folder } = bench();
  const none = await run(['check'], { cwd: folder });
  expect(none).toMatchObject({ code: 2, stdout: '' });
  expect(none.stderr).toContain('write adjutant.config.ts, or name it with --config');
  const { check } = await waitingShop();
  const gone = await check('customer-8');
  expect(gone).toMatchObject({ code: 2, stdout: '' });
  expect(gone.stderr).toContain('There is no session "customer-8"');
});

test('check tells of a damaged session, and of the others all the same', async () => {
  const { path, check } = await waitingShop();
  const app = runtime({ app: 'shop', store: sqlite(path), recover: 'manual' });
  await app.sessions.fork('customer-7', { id: 'customer-8', at: 4 });
  await app.close();
  const file = new DatabaseSync(path);
  file.exec("update events set body = '{' where ledger = 1 and seq = 6");
  file.close();
  const { code, stderr, stdout } = await check();
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toContain('customer-7: ledger_unreadable: Event 6 of session "customer-7"');
  expect(stdout).toMatch(/^. customer-8/m);
  expect((await check('customer-7', '--json')).stdout).toContain('"verdict":"refused"');
});
