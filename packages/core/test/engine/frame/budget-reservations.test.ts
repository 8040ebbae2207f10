import { agent, memoryStore, parallel, runtime, step } from 'adjutant';
import { eventually, type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const small = { text: 'ok', usage: { inputTokens: 1, outputTokens: 1 } };

/** A model that says how long its answers may be: so much is reserved for each of them. */
function limited(name: string, load: () => ScriptedModel) {
  return {
    kind: 'model' as const,
    provider: 'scripted',
    modelId: name,
    settings: { maxTokens: 90 },
    load,
  };
}

/** A model that waits before it answers. */
function held(model: ScriptedModel, until: Promise<void>, onCall: () => void): ScriptedModel {
  return new Proxy(model, {
    get: (target, key) => {
      const value = Reflect.get(target, key, target) as unknown;
      if (typeof value !== 'function') return value;
      if (key !== 'doGenerate' && key !== 'doStream') return value.bind(target);
      return async (options: unknown) => {
        onCall();
        await until;
        return value.call(target, options);
      };
    },
  });
}

test('a branch waits for what a call that is under way may leave, and then goes on', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const models = [scriptedModel([small]), scriptedModel([small])];
  const runnables = models.map((model, index) =>
    agent({
      name: `b${index}`,
      model: limited(`m${index}`, () => held(model, promise, () => asked++)),
    }),
  );
  const app = runtime({ app: 'budget', store: memoryStore() });
  const session = await app.sessions.open({ id: 's' });
  const running = app.run(parallel({ name: 'all', runnables }), {
    input: 'go',
    session,
    limits: { tokens: 300 },
  });
  await eventually(() => asked === 1);
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((done) => setImmediate(done));
  expect(asked).toBe(1);
  resolve();
  expect(await running).toMatchObject({ status: 'completed', output: { b0: 'ok', b1: 'ok' } });
  expect(
    session.events.some((event) => event.type === 'decision' && event.decision === 'exhausted'),
  ).toBe(false);
  await app.close();
});

test(
  'a call that a stopped process left open is not waited for: whoever would close it may ' +
    'come later',
  async () => {
    const body = (order: readonly string[]) =>
      step({
        name: 'body',
        execute: async (ctx) => {
          for (const name of order)
            await ctx.call(agent({ name, model: limited(name, () => scriptedModel([small])) }), {
              message: 'go',
              key: name,
            });
        },
      });
    const limits = { tokens: 300 };
    const whole = await runtime({ app: 'budget', limits }).run(body(['a', 'b']), {
      runId: 'run',
      session: 's',
    });
    const start = whole.session.events.find(({ type }) => type === 'model_start');
    const runnable = body(['b', 'a']);
    const app = runtime({ app: 'budget', limits, store: memoryStore(), runnables: [runnable] });
    await app.sessions.restore({
      app: 'budget',
      id: 's',
      events: whole.session.events.slice(0, start?.seq),
    });
    expect(await app.resume('s')).toMatchObject({ status: 'completed' });
    await app.close();
  },
);
