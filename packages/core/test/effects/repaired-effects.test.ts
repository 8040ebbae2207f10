import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { agent, memoryStore, runtime, type Store, sequence, step, tool } from 'adjutant';
import { keptOpen, scriptedModel, testClock } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { storePlaces } from '../store-places.ts';
import { charging, cutOff, noCharges } from './cut-off-effect.ts';
import { of } from './events-of.ts';
import { appOn, failed, reason } from './reported-effects.ts';

describe.each(storePlaces)('an effect of a step that was cut off, on %s', (_name, makePlace) => {
  const onStore = (title: string, work: (store: Store) => Promise<void>) =>
    test(title, async () => {
      const place = await makePlace();
      const store = place.open();
      try {
        await work(keptOpen(store));
      } finally {
        await store.close();
        await place.remove();
      }
    });

  onStore('has the outcome that somebody tells, before its run has gone on', async (store) => {
    await cutOff(store);
    const charges = noCharges();
    const app = appOn(store, charging(charges));
    await app.sessions.resolveUnknown('s', 'run/charge', {
      happened: true,
      result: 'ch_1',
      by: 'operator:jo',
    });
    const { output, session } = await app.resume('s');
    expect([output, charges.entered]).toEqual(['ch_1', []]);
    expect(of(session.events, 'tool_result')).toMatchObject([
      { callId: 'run/charge', by: 'operator:jo', attempt: 1, settled: true },
    ]);
  });

  onStore('has it also after it was reported, when the run is reopened', async (store) => {
    const { app, charges } = await failed(store);
    await app.sessions.resolveUnknown('s', 'run/charge', { happened: true, result: 'ch_1' });
    await app.sessions.reopen('s', { reason });
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'ch_1' });
    expect([charges.entered, charges.caught.length]).toEqual([[], 1]);
  });

  onStore('is run again by a present recovery of another kind', async (store) => {
    const { app } = await failed(store);
    await app.close();
    const charges = noCharges();
    const edited = appOn(store, charging(charges, { recovery: 'rerun' }));
    await edited.sessions.reopen('s', { reason });
    const { output, session } = await edited.resume('s');
    expect(output).toBe('charged by attempt 2');
    const [first, second] = of(session.events, 'tool_attempt');
    expect(charges.entered).toEqual([{ key: first?.key, attempt: 2 }]);
    expect(second?.key).toBe(first?.key);
    expect(of(session.events, 'invocation_reopen')).toMatchObject([{ effects: ['run/charge'] }]);
  });

  onStore('is told of through the process that holds the session', async (store) => {
    const { app } = await failed(store);
    const holder = appOn(store, charging(noCharges()));
    const { ledger } = await holder.sessions.open({ id: 's' });
    await ledger.lease.own();
    const told = app.sessions.resolveUnknown('s', 'run/charge', { happened: true, result: 'ch_1' });
    const ledgers = store.for({ tenant: 'default', app: 'shop' });
    while ((await ledgers.inbox('s')).length === 0) await turnOfLoop();
    await ledger.release();
    await told;
    await app.sessions.reopen('s', { reason });
    expect(await app.resume('s')).toMatchObject({ output: 'ch_1' });
    expect(await ledgers.inbox('s')).toEqual([]);
  });
});

describe('what is told of an effect that was reported', () => {
  test('counts when it is told after the reopening', async () => {
    const { app } = await failed(memoryStore());
    await app.sessions.reopen('s', { reason });
    await app.sessions.resolveUnknown('s', 'run/charge', { happened: true, result: 'ch_1' });
    expect(await app.resume('s')).toMatchObject({ output: 'ch_1' });
  });

  test('lets it be done when it has not happened, under a new key', async () => {
    const { app, charges } = await failed(memoryStore());
    await app.sessions.resolveUnknown('s', 'run/charge', { happened: false });
    await app.sessions.reopen('s', { reason });
    const { output, session } = await app.resume('s');
    expect(output).toBe('charged by attempt 2');
    const [first, second] = of(session.events, 'tool_attempt');
    expect(charges.entered).toEqual([{ key: second?.key, attempt: 2 }]);
    expect(second?.key).not.toBe(first?.key);
  });

  test('makes it fail for good', async () => {
    const { app, charges } = await failed(memoryStore());
    await app.sessions.resolveUnknown('s', 'run/charge', {
      happened: false,
      failed: 'The card was declined.',
    });
    await app.sessions.reopen('s', { reason });
    expect(await app.resume('s')).toMatchObject({
      error: { code: 'effect_failed', message: expect.stringContaining('The card was declined.') },
    });
    expect(charges.entered).toEqual([]);
    const told = app.sessions.resolveUnknown('s', 'run/charge', { happened: true });
    await expect(told).rejects.toMatchObject({
      code: 'not_resolvable',
      data: { reason: 'the effect has an outcome: error_permanent' },
    });
  });

  test('is given back the same whenever the step runs again', async () => {
    const { app, charges } = await failed(memoryStore());
    await app.sessions.resolveUnknown('s', 'run/charge', { happened: true, result: 'ch_1' });
    await app.sessions.reopen('s', { reason });
    const { session } = await app.resume('s');
    for (let cut = session.events.length - 1; cut > 5; cut--) {
      const copy = appOn(memoryStore(), charging(charges));
      const events = session.events.slice(0, cut);
      await copy.sessions.restore({ app: 'shop', id: 's', events });
      if (of(events, 'invocation_reopen').length === 0) await copy.sessions.reopen('s', { reason });
      expect(await copy.resume('s')).toMatchObject({ output: 'ch_1' });
    }
    expect(charges.entered).toEqual([]);
  });

  test('is in the explanation of the session', async () => {
    const { app } = await failed(memoryStore());
    await app.sessions.resolveUnknown('s', 'run/charge', {
      happened: true,
      result: 'ch_1',
      by: 'operator:jo',
    });
    await app.sessions.reopen('s', { reason });
    const { session } = await app.resume('s');
    expect(
      explain(session).flatMap(({ component, decision, by, what }) =>
        decision === 'resolve' || decision === 'reopen' ? [[component, decision, by, what]] : [],
      ),
    ).toEqual([
      [
        'recovery',
        'resolve',
        'operator:jo',
        'Somebody told what came of a call of the tool charge.',
      ],
      ['run', 'reopen', 'operator', 'order was opened again after it had ended.'],
    ]);
  });
});

describe('a reopened effect', () => {
  test('is reported again while its recovery reports, and nothing is recorded twice', async () => {
    const { app, charges } = await failed(memoryStore());
    await app.sessions.reopen('s', { reason });
    const { error, session } = await app.resume('s');
    expect(error).toMatchObject({ code: 'effect_unknown' });
    expect(of(session.events, 'tool_result')).toHaveLength(1);
    await app.sessions.resolveUnknown('s', 'run/charge', { happened: true, result: 'ch_1' });
    await app.sessions.reopen('s', { reason });
    expect(await app.resume('s')).toMatchObject({ output: 'ch_1' });
    expect(charges.entered).toEqual([]);
  });

  test.each([
    ['took place', { happened: true, result: 'ch_1' } as const, 'ch_1', 0],
    ['did not', { happened: false } as const, 'charged by attempt 2', 1],
  ])('is what its present probe finds: it %s', async (_title, answer, output, times) => {
    const store = memoryStore();
    await (await failed(store)).app.close();
    const charges = noCharges();
    const asked: string[] = [];
    const recovery = ({ idempotencyKey }: { readonly idempotencyKey: string }) => {
      asked.push(idempotencyKey);
      return answer;
    };
    // The process of the attempt might still begin it within its 30 seconds.
    const clock = testClock(Date.now() + 60_000);
    const runnables = [charging(charges, { recovery })];
    const edited = runtime({ app: 'shop', store, runnables, recover: 'manual', ports: { clock } });
    await edited.sessions.reopen('s', { reason });
    const { session, output: given } = await edited.resume('s');
    const [attempt] = of(session.events, 'tool_attempt');
    expect([given, charges.entered.length, asked]).toEqual([output, times, [attempt?.key]]);
    expect(of(session.events, 'tool_result').map(({ late }) => late)).not.toContain(true);
  });
});

describe('what a step went on from', () => {
  /** A step that catches the unknown outcome, then asks a person, and fails after the answer. */
  const careful = (charges: ReturnType<typeof noCharges>, bug: boolean) => {
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ answer: z.string() }),
    });
    const clerk = agent({
      name: 'clerk',
      model: scriptedModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'asked' }]),
      tools: [ask],
    });
    return step({
      name: 'order',
      execute: async (ctx) => {
        const charged = await ctx
          .effect('charge', () => 'charged')
          .catch((error: unknown) => {
            charges.caught.push(error);
            return 'unsure';
          });
        await ctx.call(clerk, { message: charged });
        if (bug) throw new Error('a bug');
        return ctx.complete(charged);
      },
    });
  };

  test('stays as it was, and is refused while the step is open', async () => {
    const store = memoryStore();
    await cutOff(store);
    const charges = noCharges();
    const app = appOn(store, careful(charges, true));
    const { pendingCalls, session } = await app.resume('s');
    const told = app.sessions.resolveUnknown('s', 'run/charge', { happened: true, result: 'ch_1' });
    await expect(told).rejects.toMatchObject({
      code: 'not_resolvable',
      message: expect.stringContaining('has gone on since'),
    });
    session.addToolInput(pendingCalls[0]?.callId ?? '', { answer: 'yes' });
    expect(await app.resume(session)).toMatchObject({ error: { message: 'a bug' } });
    await expect(
      app.sessions.resolveUnknown('s', 'run/charge', { happened: true }),
    ).rejects.toMatchObject({ code: 'not_resolvable' });
    await app.close();
    const fixed = appOn(store, careful(charges, false));
    await fixed.sessions.reopen('s', { reason });
    expect(await fixed.resume('s')).toMatchObject({ output: 'unsure' });
  });
});

test('an effect that failed its step is judged again, whatever went on beside it', async () => {
  const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
  const both = (isFixed: boolean) =>
    step({
      name: 'both',
      execute: async (ctx) => {
        const mails = async (): Promise<string> => {
          await ctx.effect('list', () => 'listed');
          return ctx.effect('mail', () => 'mailed');
        };
        const charge = ctx.effect('charge', isFixed ? () => 'charged' : lost, {
          recovery: isFixed ? 'rerun' : 'report',
        });
        const [charged] = await Promise.allSettled([charge, mails()]);
        if (charged.status === 'rejected') throw charged.reason;
        return ctx.complete(charged.value as string);
      },
    });
  const store = memoryStore();
  const app = appOn(store, both(false));
  await app.run(both(false), { session: 's', runId: 'run' });
  await app.close();
  const fixed = appOn(store, both(true));
  await fixed.sessions.reopen('s', { reason });
  const { output, session } = await fixed.resume('s');
  expect(output).toBe('charged');
  expect(of(session.events, 'tool_attempt').map(({ callId }) => callId)).toEqual([
    'run/charge',
    'run/list',
    'run/mail',
    'run/charge',
  ]);
});

test('an effect in a part of a composition is reopened with the run, or by its path', async () => {
  const store = memoryStore();
  const charges = noCharges();
  const line = () =>
    sequence({
      name: 'line',
      runnables: [step({ name: 'before', execute: () => undefined }), charging(charges)],
    });
  const first = appOn(store, line());
  const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
  const losing = sequence({
    name: 'line',
    runnables: [
      step({ name: 'before', execute: () => undefined }),
      step({
        name: 'order',
        execute: async (ctx) => {
          await ctx.effect('charge', lost);
        },
      }),
    ],
  });
  await appOn(store, losing).run(losing, { session: 's', runId: 'run' });
  await first.sessions.resolveUnknown('s', 'run/order/charge', { happened: true, result: 'ch_1' });
  await first.sessions.reopen('s', { reason });
  expect(await first.resume('s')).toMatchObject({ status: 'completed', output: 'ch_1' });
});
