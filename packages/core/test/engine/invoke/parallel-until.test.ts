import { agent, type Event, parallel, run, runtime, step, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const ends = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
  );
const writing = (name: string, changes: Record<string, number>) =>
  step({
    name,
    execute: (ctx) => {
      ctx.state.update(changes);
      return ctx.complete(name);
    },
  });
const failing = (name: string) => step({ name, execute: (ctx) => ctx.fail(`${name} failed`) });
/** Waits for its signal, and says when it was told to stop. */
const hanging = (name: string, onAbort: () => void) =>
  step({
    name,
    execute: (ctx) =>
      new Promise((resolve) =>
        ctx.signal.addEventListener('abort', () => {
          onAbort();
          resolve(undefined);
        }),
      ),
  });

describe('a parallel with until', () => {
  test('until ends the others when so many have completed, which is durable before', async () => {
    const app = runtime({ app: 'until' });
    const session = await app.sessions.open({ id: 's' });
    let durableAtAbort: readonly string[] = [];
    const durable: Event[] = [];
    session.ledger.onDurable((events) => durable.push(...events));
    const other = hanging('other', () => {
      durableAtAbort = ends(durable);
    });
    const runnables = [other, failing('bad'), writing('one', { a: 1 }), writing('two', { b: 2 })];
    const result = await app.run(parallel({ name: 'p', runnables, until: 2 }), {
      session,
      runId: 'run',
    });
    expect(durableAtAbort).toEqual(
      expect.arrayContaining(['run/one completed', 'run/two completed']),
    );
    expect(result).toMatchObject({ status: 'completed', output: { one: 'one', two: 'two' } });
    expect({ ...session.state }).toEqual({ a: 1, b: 2 });
    expect(ends(session.events).slice(-2)).toEqual(['run/other cancelled', 'run completed']);
    expect(await replay(session, app)).toMatchObject({ divergence: undefined });
  });

  test('until ends branches that wait for somebody, and withdraws what they asked', async () => {
    const app = runtime({ app: 'until' });
    const asks = (name: string) =>
      agent({
        name,
        model: roundModel([{ toolCalls: [{ name: `ask_${name}` }] }, { text: name }]),
        tools: [
          tool({
            name: `ask_${name}`,
            description: 'Asks',
            schema: z.object({}),
            yieldSchema: z.string(),
          }),
        ],
      });
    const runnable = parallel({ name: 'p', runnables: [asks('ann'), asks('bob')], until: 1 });
    const waiting = await app.run(runnable, { session: 's', input: 'Go' });
    expect(waiting.pendingCalls).toHaveLength(2);
    await app.requests.answer(waiting.pendingCalls[1]?.requestId ?? '', { input: 'me' });
    const result = await app.resume('s');
    expect(result).toMatchObject({ status: 'completed', output: { bob: 'bob' } });
    expect(await app.requests.list({ session: 's', status: 'pending' })).toEqual([]);
  });

  test('until ends steps that ask and sleep, and withdraws their questions', async () => {
    const app = runtime({ app: 'until' });
    const asks = step({
      name: 'asks',
      execute: async (ctx) => ctx.complete(await ctx.ask('colour', 'Which colour?')),
    });
    const sleeps = step({ name: 'sleeps', execute: (ctx) => ctx.sleep('long', 86_400_000) });
    const other = step({
      name: 'other',
      execute: async (ctx) => ctx.complete(await ctx.ask('size', 'Which size?')),
    });
    const runnable = parallel({ name: 'p', runnables: [asks, sleeps, other], until: 1 });
    const waiting = await app.run(runnable, { session: 's' });
    const [, size] = waiting.pendingCalls;
    await app.requests.answer(size?.requestId ?? '', { input: 'small' });
    const result = await app.resume('s');
    expect(result).toMatchObject({ status: 'completed', output: { other: 'small' } });
    expect(await app.requests.list({ session: 's', status: 'pending' })).toEqual([]);
    expect(await replay(result.session, app)).toMatchObject({ divergence: undefined });
  });

  test('until shows what was cut off with failFast: false, and fails when too few complete', async () => {
    const shown = await run(
      parallel({
        name: 'p',
        runnables: [hanging('other', () => undefined), writing('quick', {})],
        until: 1,
        failFast: false,
      }),
    );
    expect(shown.output).toMatchObject({
      quick: 'quick',
      other: { failed: true, status: 'cancelled' },
    });
    const tooFew = await run(
      parallel({ name: 'p', runnables: [failing('bad'), writing('quick', {})], until: 2 }),
    );
    expect(tooFew).toMatchObject({ status: 'error', error: { code: 'too_few_branches' } });
    const enough = await run(
      parallel({
        name: 'p',
        runnables: [failing('bad'), writing('quick', {})],
        until: 2,
        minSuccessful: 1,
      }),
    );
    expect(enough).toMatchObject({ status: 'completed', output: { quick: 'quick' } });
  });

  test.each([
    [{ until: 0 }, /`until` must be a whole number from 1, not 0/],
    [{ until: 3 }, /`until` must be a whole number from 1 to 2/],
    [{ until: 1.5 }, /`until` must be a whole number from 1, not 1.5/],
    [{ until: 1, minSuccessful: 2 }, /`minSuccessful` must be a whole number from 0 to 1/],
    [{ untill: 1 }, /did you mean `until`\?/],
  ])('%j is refused', (options, message) => {
    const runnables = [writing('a', {}), writing('b', {})];
    expect(() => parallel({ name: 'p', runnables, ...options } as never)).toThrow(message);
  });
});
