import { agent, memoryStore, openai, runtime, tool } from 'adjutant';
import {
  advanceTime,
  approve,
  crash,
  keptOpen,
  meanwhile,
  model,
  runTest,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const paid: number[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: z.object({ cents: z.number() }),
  approval: { mayDecide: ['user:ann'] },
  execute: ({ args }) => paid.push(args.cents),
});
const clerk = agent({ name: 'clerk', model: openai('gpt-5'), tools: [pay] });
const asked = [user('Pay'), model({ toolCalls: [{ name: 'pay', args: { cents: 5 } }] })];

describe('meanwhile', () => {
  test('shows the run at rest: under way, waiting, ended', async () => {
    const seen: unknown[] = [];
    const look = () =>
      meanwhile(({ result, pending, session, clock }) => {
        seen.push([
          result?.status,
          pending.map(({ name }) => name),
          session.events.at(-1)?.type,
          clock.now() % 1_000,
        ]);
      });
    const steps = [
      look(),
      user('Pay'),
      look(),
      ...asked.slice(1),
      look(),
      advanceTime(7),
      look(),
      approve({ by: 'user:ann' }),
      model('Paid.'),
      look(),
    ];
    await runTest(clerk, steps);
    expect(seen).toEqual([
      [undefined, [], undefined, 0],
      [undefined, [], 'model_start', 0],
      ['yielded', ['pay'], 'invocation_yield', 0],
      ['yielded', ['pay'], 'invocation_yield', 7],
      ['completed', [], 'invocation_end', 7],
    ]);
  });

  test('lets a run go on that was answered, be it by another process', async () => {
    const store = keptOpen(memoryStore());
    const { output } = await runTest(
      clerk,
      [
        ...asked,
        meanwhile(async ({ app, pending }) => {
          await expect(
            app.requests.approve(pending[0]?.requestId ?? '', { by: 'bob' }),
          ).rejects.toMatchObject({ code: 'may_not_decide' });
        }),
        meanwhile(async ({ pending }) => {
          await runtime({ app: 'test', store, recover: 'manual' }).requests.approve(
            pending[0]?.requestId ?? '',
            { by: 'ann' },
          );
        }),
        model('Paid.'),
      ],
      { store },
    );
    expect(output).toBe('Paid.');
  });

  test(
    'lets a run end that was cancelled while it waited, and shows the new process after a ' +
      'crash',
    async () => {
      const apps: unknown[] = [];
      const { status } = await runTest(clerk, [
        ...asked,
        meanwhile(({ app }) => void apps.push(app)),
        crash(),
        meanwhile(async ({ app, session, result }) => {
          apps.push(app);
          expect(result).toBeUndefined();
          await app.cancel(session, { reason: 'Enough.' });
        }),
      ]);
      expect(status).toBe('cancelled');
      expect(apps[0]).not.toBe(apps[1]);
    },
  );

  test('fails the test at its step with what it throws', async () => {
    const running = runTest(clerk, [
      ...asked,
      meanwhile(({ pending }) => expect(pending).toEqual([])),
    ]);
    await expect(running).rejects.toMatchObject({
      code: 'test_step_failed',
      data: { step: 3, kind: 'meanwhile' },
      message: expect.stringContaining('Step 3 of 3, meanwhile(…), failed'),
      cause: { expected: [] },
    });
    expect(() => meanwhile('look' as never)).toThrow(/it takes a function/);
  });
});

test('a model that is asked when the script is over does not keep anybody waiting', async () => {
  const { app, session, result } = await runTest(clerk, asked);
  await app.requests.approve(result.pendingApprovals[0]?.requestId ?? '', { by: 'ann' });
  const resumed = await app.resume(session);
  expect(resumed).toMatchObject({
    status: 'error',
    error: {
      message: expect.stringContaining(
        'The script of runTest() is over, and "clerk" asks its model',
      ),
    },
  });
});

test('a script goes on with what another one has left', async () => {
  const store = keptOpen(memoryStore());
  const { session } = await runTest(clerk, asked, { store });
  const { output } = await runTest(clerk, [approve({ by: 'user:ann' }), model('Paid.')], {
    store,
    session: { id: session.id },
  });
  expect(output).toBe('Paid.');
});
