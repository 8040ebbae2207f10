import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { roundModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bench } from '../run-cli.ts';

test('A2: the command line answers as the one actor that `--by` names', async () => {
  const { run, store } = bench();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: { mayDecide: ['operator:cfo'] },
    execute: () => 'paid',
  });
  const payer = agent({
    name: 'payer',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  await mkdir(dirname(store), { recursive: true });
  const app = runtime({
    app: 'adjutant',
    store: sqlite(store),
    runnables: [payer],
    recover: 'manual',
  });
  onTestFinished(() => app.close());
  const { pendingApprovals } = await app.run(payer, 'Pay');
  const requestId = pendingApprovals[0]?.requestId ?? '';

  const refused = await Promise.all(
    ['cfo', 'user:cfo', 'user:operator:cfo'].map((by) =>
      run(['approve', requestId, '--no-continue', '--by', by]),
    ),
  );
  for (const { code, stderr } of refused) {
    expect(code).not.toBe(0);
    expect(stderr).toContain('only operator:cfo may');
  }
  expect(await app.requests.get(requestId)).toMatchObject({ status: 'pending' });
  expect((await run(['approve', requestId, '--no-continue', '--by', 'operator:cfo'])).code).toBe(0);
  expect(await app.requests.get(requestId)).toMatchObject({ settledBy: 'operator:cfo' });

  const key = await run([
    'keys',
    'create',
    '--name',
    'x',
    '--role',
    'operator',
    '--user',
    'operator:cfo',
  ]);
  expect(key.code).not.toBe(0);
  expect(key.stderr).toContain('`user` is a name without a kind');
});
