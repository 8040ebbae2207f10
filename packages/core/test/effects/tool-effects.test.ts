import { agent, type Event, run, sequence, step, ToolFailure, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { runTree, transcript } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { continueAfter, lost } from './continued-session.ts';
import { of } from './events-of.ts';

describe('an effect of a tool', () => {
  const work = (execute: Parameters<typeof tool>[0]['execute'], more: object = {}) =>
    tool({
      name: 'work',
      description: 'Works',
      schema: z.object({}),
      execute,
      ...more,
    } as Parameters<typeof tool>[0]);
  const calling = (
    definition: ReturnType<typeof work>,
    responses = [{ toolCalls: [{ name: 'work' }] }, { text: 'done' }, { text: 'more' }],
  ) => {
    const model = scriptedModel(responses);
    return { model, boss: agent({ name: 'a', model, tools: [definition] }) };
  };

  test(
    'makes the call one that is continued by running it again, and is itself ' + 'done once',
    async () => {
      const counts = { before: 0, first: 0, second: 0 };
      const definition = work(async (ctx) => {
        counts.before++;
        const first = await ctx.effect('first', () => ++counts.first);
        const second = await ctx.effect('second', () => ++counts.second);
        return [first, second];
      });
      const { boss } = calling(definition);
      const whole = await run(boss, { input: 'Go', runId: 'run', session: 's' });
      const { events } = whole.session;
      const firstResult = of(events, 'tool_result').find(
        ({ callId }) => callId === 'run/r1.0/first',
      ) as Event;
      const { session } = await (
        await continueAfter(
          calling(definition, [{ text: 'done' }]).boss,
          events.slice(0, firstResult.seq),
        )
      ).running;
      expect(counts).toEqual({ before: 2, first: 1, second: 2 });
      expect(
        of(session.events, 'tool_result').filter(
          ({ callId, settled }) => settled && callId === 'run/r1.0',
        ),
      ).toMatchObject([{ result: { status: 'success', content: [1, 2] } }]);
    },
  );

  test(
    'that failed is the failure of the call, and one of unknown outcome leaves that of the ' +
      'call open',
    async () => {
      const settledOf = async (fail: () => Promise<never>, options: object = {}) => {
        let runs = 0;
        const definition = work(
          (ctx) => {
            runs++;
            return ctx.effect('pay', fail);
          },
          { retry: { initialDelayMs: 0 }, ...options },
        );
        const { session } = await run(calling(definition).boss, { input: 'Go', runId: 'run' });
        return {
          runs,
          result: of(session.events, 'tool_result').find(
            ({ callId, settled }) => settled && callId === 'run/r1.0',
          ),
        };
      };
      expect(await settledOf(() => Promise.reject(new ToolFailure('no money')))).toMatchObject({
        runs: 1,
        result: {
          effect: 'none',
          result: { status: 'error_permanent', errorType: 'effect_failed' },
        },
      });
      expect(await settledOf(lost)).toMatchObject({
        runs: 1,
        result: { effect: 'unknown', result: { status: 'unknown' } },
      });
    },
  );

  test('is not shown to models, in reports or in transcripts', async () => {
    const definition = work((ctx) =>
      ctx.effect('secret', () => 'from the effect').then(() => 'from the tool'),
    );
    const { boss, model } = calling(definition);
    const before = step({
      name: 'before',
      execute: async (ctx) => void (await ctx.effect('secret', () => 'from the effect')),
    });
    const next = agent({ name: 'next', model });
    const result = await run(sequence({ name: 'line', runnables: [before, boss, next] }), {
      input: 'Go',
      runId: 'run',
    });
    expect(JSON.stringify(model.calls)).toContain('from the tool');
    expect(JSON.stringify(model.calls)).not.toContain('from the effect');
    const { events } = result.session;
    expect(
      of(events, 'tool_result').filter(({ result: { content } }) => content === 'from the effect'),
    ).toHaveLength(2);
    for (const { seq } of of(events, 'model_start'))
      expect(JSON.stringify(promptOf(events, seq))).not.toContain('from the effect');
    expect(result.toolCalls).toMatchObject([{ callId: 'run/a/r1.0', attempts: 1 }]);
    expect(JSON.stringify(transcript(events))).not.toContain('from the effect');
    expect(runTree(events)[0]?.children.map(({ toolCalls }) => toolCalls.length)).toEqual([
      0, 1, 0,
    ]);
  });

  test('is refused while the arguments are prepared', async () => {
    const definition = work(() => 'ok', {
      prepare: async (ctx: { effect(key: string, run: () => unknown): Promise<unknown> }) =>
        ctx.effect('early', () => 1),
    });
    const { session } = await run(calling(definition).boss, { input: 'Go', runId: 'run' });
    expect(of(session.events, 'tool_result')).toMatchObject([
      { result: { errorType: 'child_in_prepare' } },
    ]);
  });
});
