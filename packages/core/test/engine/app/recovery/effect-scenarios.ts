import {
  agent,
  type BodyContext,
  type JsonValue,
  sequence,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import { call, leaf, noting, schema } from './scenarios.ts';

/**
 * Effects of a body: one after the other, beside each other in real disorder, one that is tried
 * again, and writes before and between.
 */
async function withEffects(ctx: BodyContext): Promise<JsonValue> {
  const bump = () => {
    ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
  };
  bump();
  const first = await ctx.effect('first', ({ attempt }) => Promise.resolve(attempt > 0), {
    recovery: 'rerun',
  });
  bump();
  const retry = { initialDelayMs: 1 };
  const second = await ctx.effect(
    'second',
    ({ attempt }) => {
      if (attempt === 1) throw new ToolFailure('not yet', { retryAfterMs: 1 });
      return 'second';
    },
    { recovery: 'rerun', retry },
  );
  const others = await Promise.all(
    [1, 2, 3].map(async (n) => {
      for (let turns = Math.floor(Math.random() * 5); turns > 0; turns--) await Promise.resolve();
      return ctx.effect(`other-${n}`, ({ attempt }) => n * 10 + Math.min(1, attempt), {
        recovery: 'rerun',
      });
    }),
  );
  bump();
  return [first, second, ...others, (ctx.state['n'] as number) > 0];
}

export const effectsInSteps: MakeScenario = () => ({
  runnable: sequence({
    name: 'all',
    runnables: [
      step({ name: 'body', execute: async (ctx) => ctx.complete(await withEffects(ctx), 'body') }),
      leaf('after'),
    ],
  }),
});

export const effectsInTool: MakeScenario = () => ({
  runnable: agent({
    name: 'worker',
    model: roundModel([
      { toolCalls: [call('work', 1)] },
      { toolCalls: [call('note', 2)] },
      { text: 'done' },
    ]),
    tools: [
      tool({ name: 'work', description: 'Works', schema, recovery: 'rerun', execute: withEffects }),
      noting('note'),
    ],
  }),
});
