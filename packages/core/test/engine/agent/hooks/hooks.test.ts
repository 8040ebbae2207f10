import { describe, expect, test } from 'vitest';
import { testClock } from '../../../../src/base/clocks/test-clock.ts';
import { agent, type Event, type Hooks, runtime } from '../../../../src/index.ts';
import { scriptedModel } from '../../../../src/testing/kit/scripted-model.ts';
import { calls, says, setUp } from './hooked-agent.ts';

describe('the order of the pipeline', () => {
  test(
    'middleware lies around hooks, the runtime around the agent on the way in; on the way ' +
      'out plain hooks come first',
    async () => {
      const order: string[] = [];
      const tracing = (who: string): Hooks => {
        const note = (point: string) => {
          order.push(`${point} ${who}`);
          return undefined;
        };
        return {
          beforeAgent: () => note('beforeAgent'),
          afterAgent: () => note('afterAgent'),
          beforeModel: () => note('beforeModel'),
          afterModel: () => note('afterModel'),
          beforeTool: () => note('beforeTool'),
          afterTool: () => note('afterTool'),
        };
      };
      const { app, helper } = setUp([calls('echo'), says('done')], {
        runtimeMiddleware: [{ name: 'M1', ...tracing('M1') }],
        middleware: [{ name: 'M2', ...tracing('M2') }],
        runtimeHooks: tracing('runtime'),
        hooks: tracing('agent'),
      });
      await app.run(helper, 'go');
      const inward = ['M1', 'M2', 'runtime', 'agent'];
      const outward = ['runtime', 'agent', 'M2', 'M1'];
      const at = (point: string, who: readonly string[]) => who.map((one) => `${point} ${one}`);
      const round = [...at('beforeModel', inward), ...at('afterModel', outward)];
      expect(order).toEqual([
        ...at('beforeAgent', inward),
        ...round,
        ...at('beforeTool', inward),
        ...at('afterTool', outward),
        ...round,
        ...at('afterAgent', outward),
      ]);
    },
  );

  test(
    'the first that answers ends the way in, so that those inside it are ' + 'not asked',
    async () => {
      const asked: string[] = [];
      const { app, helper, model } = setUp([], {
        runtimeMiddleware: [{ name: 'gate', beforeAgent: () => 'closed today' }],
        hooks: {
          beforeAgent: () => {
            asked.push('agent');
          },
        },
      });
      expect(await app.run(helper, 'go')).toMatchObject({
        status: 'completed',
        output: 'closed today',
      });
      expect(asked).toEqual([]);
      expect(model.calls).toEqual([]);
    },
  );

  test('what those inside have changed is what those outside see on the way out', async () => {
    const { app, helper } = setUp([says('a')], {
      hooks: { afterAgent: (_ctx, output) => `${String(output)}b` },
      middleware: [{ name: 'outer', afterAgent: (_ctx, output) => `${String(output)}c` }],
    });
    expect((await app.run(helper, 'go')).output).toBe('abc');
  });
});

describe('state that hooks write', () => {
  test('lands with what the hook led to, and is there in the next run', async () => {
    const { app, helper } = setUp([says('one'), says('two')], {
      runtimeMiddleware: [
        {
          name: 'cost-tracker',
          afterModel: (ctx, result) => {
            const state = ctx.state as Record<string, number>;
            state['tokens'] =
              (state['tokens'] ?? 0) + result.usage.inputTokens + result.usage.outputTokens;
          },
        },
      ],
    });
    const first = await app.run(helper, 'go');
    await app.run(helper, { input: 'again', session: first.session });
    expect((first.session.state as Record<string, unknown>)['tokens']).toBe(30);
    const kinds = first.session.events.map(({ type }) => type);
    const at = kinds.indexOf('state_change');
    expect(kinds.slice(at, at + 3)).toEqual(['state_change', 'assistant', 'model_end']);
  });
});

describe('hooks that fail', () => {
  test.each<[string, Hooks]>([
    ['beforeAgent', { beforeAgent: () => 7 as never }],
    ['beforeModel', { beforeModel: () => ({ events: [] }) as never }],
    ['afterModel', { afterModel: () => 'text' as never }],
    ['afterAgent', { afterAgent: () => (() => 1) as never }],
  ])(
    '%s that returns what nobody can use ends the agent with an error that says what is expected',
    async (hook, hooks) => {
      const { app, helper } = setUp([says('x')], { hooks });
      expect(await app.run(helper, 'go')).toMatchObject({
        status: 'error',
        error: { code: 'hook_failed', data: { hook, owner: 'the agent "helper"' } },
      });
    },
  );

  test('one that throws ends the agent, and is named', async () => {
    const { app, helper } = setUp([says('x')], {
      runtimeMiddleware: [
        {
          name: 'broken',
          afterModel: () => {
            throw new Error('no network');
          },
        },
      ],
    });
    const { error } = await app.run(helper, 'go');
    expect(error).toMatchObject({
      code: 'hook_failed',
      message: expect.stringContaining('the middleware "broken" failed: no network'),
    });
  });

  test('one that hangs does not keep a run from being cancelled', async () => {
    const clock = testClock();
    const model = scriptedModel([says('x')]);
    let began: () => void = () => undefined;
    const isHanging = new Promise<void>((resolve) => {
      began = resolve;
    });
    const hanging = agent({
      name: 'hanging',
      model,
      hooks: {
        afterModel: () => {
          began();
          return new Promise<never>(() => undefined);
        },
      },
    });
    const run = runtime({ app: 'test', ports: { clock } }).run(hanging, 'go');
    await isHanging;
    run.cancel();
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    expect((await run).status).toBe('cancelled');
  });
});

test('middleware hears each event of a run once, and what it throws is not heard', async () => {
  const heard: Event['type'][] = [];
  const { app, helper } = setUp([says('done')], {
    runtimeMiddleware: [
      {
        name: 'listener',
        onStream: (event) => {
          if ('seq' in event) heard.push(event.type);
          throw new Error('nobody cares');
        },
      },
    ],
  });
  const result = await app.run(helper, 'go');
  expect(result.status).toBe('completed');
  expect(heard).toEqual(result.session.events.map(({ type }) => type));
});
