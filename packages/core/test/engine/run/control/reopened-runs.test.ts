import { agent, memoryStore, parallel, runtime, sequence, step, tool } from 'adjutant';
import { keptOpen, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

describe('reopen', () => {
  test('hours later leaves a run the time that it had when it failed', async () => {
    const clock = testClock();
    let works = false;
    const slow = step({
      name: 'slow',
      execute: async (ctx) => {
        await ctx.effect('look', () => 'seen', { recovery: 'rerun' });
        if (!works) throw new Error('broken');
        await ctx.effect('work', () => 'done');
        return ctx.complete('fixed');
      },
    });
    const app = runtime({ app: 'control', runnables: [slow], ports: { clock } });
    await app.run(slow, { session: 's', timeoutMs: 60_000 });
    works = true;
    clock.advance(3_600_000);
    await app.sessions.reopen('s', { reason: 'it is fixed' });
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'fixed' });
  });

  test('lets a failed run go on where it failed, with what completed kept', async () => {
    let works = false;
    const ran: string[] = [];
    const first = step({ name: 'first', execute: (ctx) => ctx.complete(ran.push('first')) });
    const second = step({
      name: 'second',
      execute: (ctx) => (works ? ctx.complete('fixed') : ctx.fail('broken')),
    });
    const whole = sequence({ name: 'whole', runnables: [first, second] });
    const app = runtime({
      app: 'control',
      store: keptOpen(memoryStore()),
      runnables: [whole],
      recover: 'manual',
    });
    const failed = await app.run(whole, { session: 's', input: 'Go' });
    expect(failed.status).toBe('error');
    await expect(app.resume('s')).rejects.toMatchObject({ code: 'no_open_run' });
    works = true;
    await app.sessions.reopen('s', { reason: 'it is fixed' });
    expect(await app.resume('s')).toMatchObject({
      status: 'completed',
      output: 'fixed',
      runId: failed.runId,
    });
    expect(ran).toEqual(['first']);
    await expect(app.sessions.reopen('s', { reason: 'again' })).rejects.toMatchObject({
      code: 'not_reopenable',
    });
    await expect(
      app.sessions.reopen('s', { path: 'nowhere', reason: 'again' }),
    ).rejects.toMatchObject({
      code: 'not_reopenable',
    });
  });

  test('lets a run go on that failed in the round after which it was to pause', async () => {
    let works = false;
    let record = (): void => undefined;
    const isRecorded = new Promise<void>((resolve) => {
      record = resolve;
    });
    const careful = step({
      name: 'careful',
      execute: async (ctx) => {
        if (works) return ctx.complete('fixed');
        await app.pause('s');
        await isRecorded;
        return ctx.fail('broken');
      },
    });
    const app = runtime({ app: 'control', runnables: [careful], recover: 'manual' });
    const running = app.run(careful, { session: 's' });
    for await (const event of running)
      if (event.type === 'decision' && event.decision === 'pause') record();
    expect((await running).status).toBe('error');
    works = true;
    await app.sessions.reopen('s', { reason: 'it is fixed' });
    const [found] = await app.recovery.resumeStopped();
    expect(await found).toMatchObject({ status: 'completed', output: 'fixed' });
  });

  test('of a parallel reopens the branches that failed and were cancelled', async () => {
    let works = false;
    const ran: string[] = [];
    const good = step({ name: 'good', execute: (ctx) => ctx.complete(ran.push('good')) });
    const bad = step({
      name: 'bad',
      execute: (ctx) => (works ? ctx.complete('ok') : ctx.fail('broken')),
    });
    const both = parallel({ name: 'both', runnables: [good, bad] });
    const app = runtime({
      app: 'control',
      store: keptOpen(memoryStore()),
      runnables: [both],
      recover: 'manual',
    });
    expect((await app.run(both, { session: 's' })).status).toBe('error');
    works = true;
    await app.sessions.reopen('s', { reason: 'it is fixed' });
    expect(await app.resume('s')).toMatchObject({
      status: 'completed',
      output: { good: 1, bad: 'ok' },
    });
    expect(ran).toEqual(['good']);
  });
});

test(
  'what somebody found out about a call of unknown outcome is told to the model, and an ' +
    'equal call is a new one',
  async () => {
    const keys: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({ cents: z.number() }),
      onRepeat: 'refuse',
      execute: ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
        return 'paid';
      },
    });
    const call = { toolCalls: [{ name: 'pay', args: { cents: 5 } }] };
    const model = scriptedModel([call, { text: 'unsure' }, call, { text: 'paid twice' }]);
    const payer = agent({ name: 'payer', model, tools: [pay] });
    const app = runtime({ app: 'control' });
    const first = await app.run(payer, { session: 's', input: 'Pay' });
    const { callId } = first.session.events.find((event) => event.type === 'tool_result') ?? {
      callId: '',
    };
    await app.sessions.resolveUnknown('s', callId, {
      happened: true,
      result: 'paid after all',
      by: 'operator:jo',
    });
    await expect(
      app.sessions.resolveUnknown('s', 'nothing/r1.0', { happened: false }),
    ).rejects.toMatchObject({ code: 'not_resolvable', data: { callId: 'nothing/r1.0' } });
    await expect(
      app.sessions.resolveUnknown('s', callId, { happened: false }),
    ).rejects.toMatchObject({
      code: 'not_resolvable',
      message: expect.stringContaining('it is known by now'),
    });
    const second = await app.run(payer, { session: 's', input: 'And again' });
    expect(second).toMatchObject({ status: 'completed', output: 'paid twice' });
    expect(keys).toHaveLength(2);
    expect(keys[1]).not.toBe(keys[0]);
    expect(
      second.session.events.filter((event) => event.type === 'tool_result' && event.late === true),
    ).toMatchObject([{ by: 'operator:jo', callId, result: { content: 'paid after all' } }]);
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain('paid after all');
    const refusals = second.session.events.filter(
      (event) => event.type === 'decision' && event.decision === 'refuse',
    );
    expect(refusals).toEqual([]);
  },
);
