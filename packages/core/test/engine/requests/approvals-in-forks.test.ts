import { agent, memoryStore, runtime, tool } from 'adjutant';
import { keptOpen, roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

test(
  'an approval that was given and not used before the fork is not spent a second ' + 'time by it',
  async () => {
    const store = keptOpen(memoryStore());
    const paid: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({ cents: z.number() }),
      approval: true,
      execute: (ctx) => {
        paid.push(ctx.session.id);
        return 'paid';
      },
    });
    const payer = agent({
      name: 'payer',
      model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Done.' }]),
      tools: [pay],
    });
    const app = runtime({ app: 'forks', store, runnables: [payer], recover: 'manual' });
    const first = await app.run(payer, { session: 's', input: 'Pay' });
    await app.requests.approve(first.pendingApprovals[0]?.requestId ?? '');
    const whole = await app.resume('s');
    expect(whole.status).toBe('completed');
    const given = whole.session.events.find(({ type }) => type === 'tool_input');
    const fork = await app.sessions.fork('s', { at: given?.seq ?? 0 });
    const asked = await app.resume(fork);
    expect(asked).toMatchObject({
      status: 'yielded',
      pendingApprovals: [{ name: 'pay', args: { cents: 5 } }],
    });
    expect(asked.pendingApprovals[0]?.requestId).not.toBe(first.pendingApprovals[0]?.requestId);
    expect(paid).toEqual(['s']);
    await app.requests.approve(asked.pendingApprovals[0]?.requestId ?? '');
    expect((await app.resume(fork.id)).status).toBe('completed');
    expect(paid).toEqual(['s', fork.id]);
  },
);
