import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  agent,
  memoryStore,
  type Runnable,
  type Runtime,
  runtime,
  type Store,
  sequence,
  step,
} from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { keptOpen, roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { payTool } from '../../pay-tool.ts';
import { eventsOf } from './events-of.ts';
import { fastClock } from './fast-clock.ts';

function processOf(store: Store, runnables: readonly Runnable[]): Runtime {
  return runtime({
    app: 'hygiene',
    store,
    runnables,
    recover: 'manual',
    ports: { clock: fastClock() },
  });
}

const payer = () =>
  agent({
    name: 'payer',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Done.' }]),
    tools: [payTool().pay],
  });

test(
  'B22: resuming a run that waits adds nothing to its ledger, however it is nested and ' +
    'whoever does it',
  async () => {
    const store = keptOpen(memoryStore());
    const define = () =>
      sequence({
        name: 'all',
        runnables: [
          step({
            name: 'ahead',
            execute: async (ctx) => void (await ctx.call(payer(), { message: 'Pay' })),
          }),
        ],
      });
    const first = processOf(store, [define()]);
    expect(await first.run(define(), { session: 's', runId: 'run' })).toMatchObject({
      status: 'yielded',
    });
    const before = await eventsOf(first);
    expect(await first.resume('s')).toMatchObject({ status: 'yielded' });
    await first.close();
    const second = processOf(store, [define()]);
    expect(await second.resume('s')).toMatchObject({ status: 'yielded' });
    expect(await eventsOf(second)).toEqual(before);
    await second.requests.answer(
      (await second.requests.listPendingApprovals())[0]?.requestId ?? '',
      {
        decision: 'approve',
      },
    );
    expect(await second.resume('s')).toMatchObject({ status: 'completed' });
    const resumed = (await eventsOf(second)).filter(({ type }) => type === 'invocation_resume');
    expect(resumed.map(({ invocationId }) => invocationId?.split('#')[0])).toEqual([
      'run',
      'run/ahead',
      'run/ahead/payer',
    ]);
    await second.close();
  },
);

test('B22: a mismatch leaves the ledger as it is', async () => {
  const store = keptOpen(memoryStore());
  const first = processOf(store, [payer()]);
  const define = (name: string) =>
    sequence({
      name: 'all',
      runnables: [
        agent({
          name,
          model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }]),
          tools: [payTool().pay],
        }),
      ],
    });
  await first.run(define('payer'), { session: 's', runId: 'run', input: 'Pay' });
  const before = await eventsOf(first);
  await first.close();
  const edited = processOf(store, [define('cashier')]);
  await expect(edited.resume('s')).rejects.toMatchObject({ code: 'ledger_mismatch' });
  expect(await eventsOf(edited)).toEqual(before);
  await edited.close();
});

test(
  'B22: a lease that is lost is told by epochs, not by places that nobody ' + 'has compared',
  async () => {
    const ledgers = memoryStore().for({ tenant: 'default', app: 'hygiene' });
    const lost = await ledgers.claim('s', 'one', { ttlMs: 1_000 });
    await ledgers.claim('s', 'two', { ttlMs: 1_000, force: true });
    const error: unknown = await ledgers.renew(lost).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ledger_conflict' });
    expect(String(error)).toContain(
      `is under epoch ${lost.epoch + 1}, and no longer under epoch ${lost.epoch}: another ` +
        'writer has taken it over',
    );
    expect(String(error)).not.toContain('seq 0');
  },
);

test.each([
  [{ decision: 'approve', by: 'ann' }, 'it was approved by user:ann'],
  [
    { decision: 'edit', input: { cents: 1 }, by: 'ann' },
    'it was approved with other arguments by user:ann',
  ],
  [{ decision: 'reject', by: 'ann' }, 'it was rejected by user:ann'],
] as const)(
  'B22: who answers too late is told what became of the request: %o',
  async (answer, told) => {
    const app = processOf(keptOpen(memoryStore()), [payer()]);
    await app.run(payer(), { session: 's', runId: 'run', input: 'Pay' });
    const requestId = (await app.requests.listPendingApprovals())[0]?.requestId ?? '';
    await app.requests.answer(requestId, answer);
    const late = {
      code: 'request_settled',
      message: expect.stringContaining(told),
      data: { status: 'answered', decision: answer.decision, by: 'user:ann' },
    };
    await expect(
      app.requests.answer(requestId, { decision: 'reject', by: 'bob' }),
    ).rejects.toMatchObject(late);
    await app.resume('s');
    // Now the ledger has it and the inbox no more.
    await expect(
      app.requests.answer(requestId, { decision: 'approve', by: 'bob' }),
    ).rejects.toMatchObject(late);
    await app.close();
  },
);

test('B22: who answers what was cancelled or expired is told so', async () => {
  const app = processOf(keptOpen(memoryStore()), [payer()]);
  await app.run(payer(), { session: 's', runId: 'run', input: 'Pay' });
  const requestId = (await app.requests.listPendingApprovals())[0]?.requestId ?? '';
  await app.cancel('s');
  await app.resume('s');
  const told = {
    code: 'request_settled',
    message: expect.stringContaining('it was cancelled together with what had asked'),
  };
  await expect(app.requests.answer(requestId, { decision: 'approve' })).rejects.toMatchObject(told);
  await app.close();
});

test('B22: a store that can only be read is read, and says why nothing is written', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'adjutant-read-only-'));
  const file = join(directory, 'a.db');
  const noop = step({ name: 'noop', execute: (ctx) => ctx.complete(1) });
  const app = runtime({
    app: 'reading',
    store: sqlite(file),
    runnables: [noop],
    recover: 'manual',
  });
  const { session } = await app.run(noop, { session: 's', runId: 'run' });
  const { length } = session.events;
  await app.close();
  chmodSync(file, 0o444);
  chmodSync(directory, 0o555);
  const script = fileURLToPath(new URL('read-only-store.mjs', import.meta.url));
  // Root may write everywhere: another user is asked.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const args = ['--no-warnings', script, file];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    ...user,
    encoding: 'utf8',
    env: { ...process.env, HOME: directory },
  });
  chmodSync(directory, 0o755);
  expect({ stderr, said: JSON.parse(stdout || 'null') as unknown }).toEqual({
    stderr: '',
    said: {
      list: 1,
      read: length,
      export: 'object',
      write: {
        code: 'store_unavailable',
        message: expect.stringContaining('it is read-only for this process'),
      },
    },
  });
});
