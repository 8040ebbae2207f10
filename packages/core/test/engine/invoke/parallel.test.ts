import { agent, type Event, parallel, run, runtime, sequence, step, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ends, failing, hanging, writing } from './branches.ts';

describe('parallel', () => {
  test(
    'branches do not see each other, the join is one append, and the last declared write ' +
      'stays',
    async () => {
      const seen: unknown[] = [];
      const looking = (name: string, value: number) =>
        step({
          name,
          execute: async (ctx) => {
            ctx.state['key'] = value;
            for (let turn = 0; turn < (name === 'a' ? 20 : 1); turn++) await Promise.resolve();
            seen.push([name, ctx.state['key'], ctx.state['other']]);
            ctx.state[`only_${name}`] = value;
          },
        });
      const result = await run(
        sequence({
          name: 'all',
          runnables: [
            writing('before', { key: 0 }),
            parallel({ name: 'both', runnables: [looking('a', 1), looking('b', 2)] }),
          ],
        }),
        { runId: 'run' },
      );
      expect(seen).toEqual([
        ['b', 2, undefined],
        ['a', 1, undefined],
      ]);
      expect({ ...result.session.state }).toEqual({ key: 2, only_a: 1, only_b: 2 });
      const { events } = result.session;
      const join = events.filter((event) => event.invocationId === 'run/both').slice(1);
      expect(join.map(({ type }) => type)).toEqual(['state_change', 'decision', 'invocation_end']);
      expect(join.map(({ seq }) => seq)).toEqual([
        join[0]?.seq,
        (join[0]?.seq ?? 0) + 1,
        (join[0]?.seq ?? 0) + 2,
      ]);
      expect(join[1]).toMatchObject({
        decision: 'last_declared_wins',
        reasoning: expect.stringContaining('"key"'),
      });
    },
  );

  test('overlays nest', async () => {
    const inner = parallel({
      name: 'inner',
      runnables: [writing('x', { deep: 1, base: 5 }), writing('y', { deep: 2 })],
    });
    const reader = step({
      name: 'reader',
      execute: (ctx) => ctx.complete([ctx.state['deep'] as number, ctx.state['base'] as number]),
    });
    const outer = parallel({
      name: 'outer',
      runnables: [
        sequence({ name: 'left', runnables: [inner, reader] }),
        step({ name: 'right', execute: (ctx) => ctx.complete(ctx.state['deep'] === undefined) }),
      ],
    });
    const result = await run(outer);
    expect(result.output).toEqual({ left: [2, 5], right: true });
    expect({ ...result.session.state }).toEqual({ deep: 2, base: 5 });
  });

  test('merge gets the outcomes in the order of declaration and says what stays', async () => {
    const result = await run(
      parallel({
        name: 'vote',
        runnables: [writing('yes', { votes: 3 }), writing('no', { votes: 2 })],
        merge: ({ branches }) => ({
          votes: branches.reduce((sum, { changes }) => sum + (changes['votes'] as number), 0),
          order: branches.map(({ name }) => name),
        }),
      }),
    );
    expect({ ...result.session.state }).toEqual({ votes: 5, order: ['yes', 'no'] });
    expect(result.session.events.some(({ type }) => type === 'decision')).toBe(false);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no merge');
      },
      'unexpected_error',
    ],
    ['gives a Date', () => ({ at: new Date(0) as never }), 'not_json'],
    ['gives a bigint', () => ({ n: 1n as never }), 'not_json'],
  ] as const)('a merge that %s ends the parallel as an error', async (_what, merge, code) => {
    const result = await run(parallel({ name: 'p', runnables: [writing('a', { k: 1 })], merge }));
    expect(result).toMatchObject({ status: 'error', error: { code } });
    expect({ ...result.session.state }).toEqual({});
  });

  test(
    'the failing end is durable before the others are cancelled, which end before the ' +
      'parallel does',
    async () => {
      const app = runtime({ app: 'failFast' });
      const session = await app.sessions.open({ id: 's' });
      let durableAtAbort: readonly string[] = [];
      const durable: Event[] = [];
      session.ledger.onDurable((events) => durable.push(...events));
      const other = hanging('other', () => {
        durableAtAbort = ends(durable);
      });
      const result = await app.run(parallel({ name: 'p', runnables: [other, failing('bad')] }), {
        session,
        runId: 'run',
      });
      expect(durableAtAbort).toContain('run/bad error');
      expect(result).toMatchObject({
        status: 'error',
        error: { code: 'too_few_branches', message: expect.stringContaining('bad failed') },
      });
      expect(ends(session.events)).toEqual(['run/bad error', 'run/other cancelled', 'run error']);
    },
  );

  test('what failed or was cancelled leaves no state', async () => {
    const half = step({
      name: 'half',
      execute: async (ctx) => {
        ctx.state['half'] = 1;
        await ctx.call(writing('inner', { inner: 1 }));
        return ctx.fail('too late');
      },
    });
    const result = await run(
      parallel({ name: 'p', runnables: [writing('good', { good: 1 }), half], minSuccessful: 1 }),
    );
    expect(result).toMatchObject({ status: 'completed', output: { good: 'good' } });
    expect({ ...result.session.state }).toEqual({ good: 1 });
  });

  test('minSuccessful is a quorum over all branches, none of which is cut short', async () => {
    const slow = step({
      name: 'slow',
      execute: async (ctx) => {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        return ctx.complete('slow');
      },
    });
    const enough = await run(
      parallel({
        name: 'p',
        runnables: [failing('bad'), writing('quick', {}), slow],
        minSuccessful: 2,
      }),
    );
    expect(enough).toMatchObject({ status: 'completed', output: { quick: 'quick', slow: 'slow' } });
    const tooFew = await run(
      parallel({
        name: 'p',
        runnables: [failing('bad'), writing('quick', {}), slow],
        minSuccessful: 3,
      }),
    );
    expect(tooFew).toMatchObject({ status: 'error', error: { code: 'too_few_branches' } });
  });

  test('branchTimeoutMs cuts a branch off', async () => {
    const clock = testClock();
    const app = runtime({ app: 'timeout', ports: { clock } });
    const session = await app.sessions.open();
    const stuck = parallel({
      name: 'p',
      runnables: [hanging('stuck'), writing('quick', {})],
      minSuccessful: 1,
      branchTimeoutMs: 5_000,
    });
    const running = app.run(stuck, { session, runId: 'run' });
    await eventually(() => ends(session.events).includes('run/quick completed'), {
      what: 'the quick branch',
    });
    clock.advance(5_000);
    expect(await running).toMatchObject({ status: 'completed', output: { quick: 'quick' } });
    expect(ends(session.events)).toContain('run/stuck error');
  });

  test('equal names are numbered, also beside a name that looks like a number', async () => {
    const result = await run(
      parallel({
        name: 'p',
        runnables: [writing('a', {}, 'one'), writing('a', {}, 'two'), writing('a.2', {}, 'three')],
      }),
    );
    expect(Object.values(result.output as object)).toEqual(['one', 'two', 'three']);
    const other = await run(
      parallel({
        name: 'p',
        runnables: [writing('a', {}, 'one'), writing('a.2', {}, 'two'), writing('a', {}, 'three')],
      }),
    );
    expect(Object.values(other.output as object)).toEqual(['one', 'two', 'three']);
  });

  test(
    'after the join the branches stand in the prompt in the order of declaration, whatever ' +
      'the order of arrival',
    async () => {
      const talker = (name: string, turns: number) =>
        sequence({
          name: `line-${name}`,
          runnables: [
            step({
              name: `wait-${name}`,
              execute: async () => {
                for (let turn = 0; turn < turns; turn++)
                  await new Promise<void>((resolve) => setImmediate(resolve));
              },
            }),
            agent({ name, model: scriptedModel([{ text: `I am ${name}` }]) }),
          ],
        });
      const model = scriptedModel([{ text: 'all heard' }]);
      const result = await run(
        sequence({
          name: 'all',
          runnables: [
            parallel({ name: 'p', runnables: [talker('late', 20), talker('early', 0)] }),
            agent({ name: 'listener', model }),
          ],
        }),
        'Go',
      );
      const said = result.session.events.flatMap((event) =>
        event.type === 'assistant' ? [event.text] : [],
      );
      expect(said).toEqual(['I am early', 'I am late', 'all heard']);
      const texts = JSON.stringify(model.calls[0]?.prompt);
      expect(texts.indexOf('I am late')).toBeGreaterThan(0);
      expect(texts.indexOf('I am late')).toBeLessThan(texts.indexOf('I am early'));
    },
  );

  test(
    'a branch does not see a branch that has ended beside it, but what handed over to it in ' +
      'its own place',
    async () => {
      const gate = Promise.withResolvers<void>();
      const pause = tool({
        name: 'pause',
        description: 'Waits',
        schema: z.object({}),
        execute: () => gate.promise.then(() => 'waited'),
      });
      const second = agent({
        name: 'second',
        model: scriptedModel([{ toolCalls: [{ name: 'pause' }] }, { text: 'second is done' }]),
        tools: [pause],
      });
      const secondModel = second.model as ReturnType<typeof scriptedModel>;
      const pass = tool({
        name: 'pass',
        description: 'Passes on',
        schema: z.object({}),
        execute: () => second,
      });
      const first = agent({
        name: 'first',
        model: scriptedModel([{ text: 'over to you', toolCalls: [{ name: 'pass' }] }]),
        tools: [pass],
      });
      const beside = sequence({
        name: 'beside',
        runnables: [
          agent({ name: 'neighbour', model: scriptedModel([{ text: 'secret' }]) }),
          step({ name: 'open', execute: () => gate.resolve() }),
        ],
      });
      const result = await run(parallel({ name: 'p', runnables: [first, beside] }), 'Go');
      expect(result.status).toBe('completed');
      expect(secondModel.calls).toHaveLength(2);
      for (const { prompt } of secondModel.calls) {
        expect(JSON.stringify(prompt)).toContain('over to you');
        expect(JSON.stringify(prompt)).not.toContain('secret');
      }
      for (const event of result.session.events) {
        if (event.type === 'model_start' && event.agent === 'second')
          expect(
            JSON.stringify(
              promptOf(result.session.events, event.seq, result.session.ledger.resolve).prompt,
            ),
          ).toBe(JSON.stringify(secondModel.calls[event.round - 1]?.prompt));
      }
    },
  );

  test(
    'nothing of a branch that failed is in later prompts, also when it failed after it had ' +
      'been handed over',
    async () => {
      const pass = tool({
        name: 'pass',
        description: 'Passes on',
        schema: z.object({}),
        execute: () => failing('bad'),
      });
      const first = agent({
        name: 'first',
        model: scriptedModel([{ text: 'doomed words', toolCalls: [{ name: 'pass' }] }]),
        tools: [pass],
      });
      const model = scriptedModel([{ text: 'ok' }]);
      const branches = parallel({
        name: 'p',
        minSuccessful: 1,
        runnables: [
          first,
          agent({ name: 'second', model: scriptedModel([{ text: 'good words' }]) }),
        ],
      });
      await run(
        sequence({ name: 'all', runnables: [branches, agent({ name: 'last', model })] }),
        'Go',
      );
      expect(JSON.stringify(model.calls[0]?.prompt)).toContain('good words');
      expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain('doomed words');
    },
  );
});
