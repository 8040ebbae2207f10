import { agent, parallel, type Runnable, runtime, sequence, step, tool } from 'adjutant';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { expectExact, look, quiet, read, scripted } from './exact-prompts.ts';

const large = tool({
  name: 'large',
  description: 'Gives much',
  schema: quiet,
  execute: () => 'line\n'.repeat(40_000),
});

describe('in compositions', () => {
  const app = () => runtime({ app: 'prompts' });

  test('transfer, branches and what comes after a join', async () => {
    const models = Array.from({ length: 5 }, () => scripted());
    const [first, left, right, target, last] = models as [
      ScriptedModel,
      ScriptedModel,
      ScriptedModel,
      ScriptedModel,
      ScriptedModel,
    ];
    const worker = (name: string, model: ScriptedModel) =>
      agent({ name, model, tools: [look, read] });
    const source = scriptedModel([{ text: 'over', toolCalls: [{ name: 'pass' }] }]);
    const passing = agent({
      name: 'source',
      model: source,
      tools: [
        tool({
          name: 'pass',
          description: 'Passes',
          schema: quiet,
          execute: () => worker('target', target),
        }),
      ],
    });
    const all: Runnable = sequence({
      name: 'all',
      runnables: [
        worker('first', first),
        parallel({
          name: 'p',
          runnables: [
            worker('left', left),
            sequence({
              name: 'line',
              runnables: [
                step({ name: 'say', execute: (ctx) => ctx.respond('between') }),
                worker('right', right),
              ],
            }),
          ],
        }),
        passing,
        worker('last', last),
      ],
    });
    const result = await app().run(all, 'Go');
    expect(result.status).toBe('completed');
    expectExact(result.session, [...models, source]);
  });

  test('agents that tools call and spawn', async () => {
    const called = scripted();
    const spawned = scripted();
    const boss = scriptedModel([
      { toolCalls: [{ name: 'ask' }, { name: 'start' }] },
      { text: 'wait' },
      { text: 'end' },
      { text: 'end' },
    ]);
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: quiet,
      execute: async (ctx) =>
        (
          await ctx.call(agent({ name: 'called', model: called, tools: [look, read] }), {
            message: 'well?',
          })
        ).output,
    });
    const startOne = tool({
      name: 'start',
      description: 'Starts',
      schema: quiet,
      execute: (ctx) =>
        ctx.spawn(agent({ name: 'spawned', model: spawned, tools: [look, read] }), {
          message: 'do',
        }).invocationId,
    });
    const result = await app().run(
      agent({ name: 'boss', model: boss, tools: [ask, startOne] }),
      'Go',
    );
    expect(result.status).toBe('completed');
    expectExact(result.session, [called, spawned, boss]);
  });

  test('large results, which are shortened, and failed attempts', async () => {
    const inner = scriptedModel([
      { toolCalls: [{ name: 'large' }] },
      { error: Object.assign(new Error('busy'), { statusCode: 503 }) },
      { text: 'done' },
    ]);
    const model = {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'm',
      settings: { temperature: 0.5, maxTokens: 99, retry: { initialDelayMs: 0 } },
      contextWindow: 10_000,
      load: () => inner,
    };
    const result = await app().run(agent({ name: 'a', model, tools: [large] }), 'Go');
    expect(result.status).toBe('completed');
    expect(inner.calls[1]).toMatchObject({ temperature: 0.5, maxOutputTokens: 99 });
    expectExact(result.session, [inner]);
  });

  test('a last answer at a limit', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'look' }] },
      { text: 'enough', toolCalls: [{ name: 'look' }] },
    ]);
    const result = await app().run(
      agent({ name: 'a', model, tools: [look], limits: { rounds: 1 } }),
      'Go',
    );
    expect(result).toMatchObject({
      status: 'completed',
      output: 'enough',
      stopReason: 'round_limit',
    });
    expect(result.toolCalls).toHaveLength(1);
    expect(model.calls[1]?.toolChoice).toEqual({ type: 'none' });
    expectExact(result.session, [model]);
  });
});
