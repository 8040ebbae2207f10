import { agent, type Event, memoryStore, parallel, runtime, step, tool } from 'adjutant';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { until } from './until.ts';

interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const look = tool({ name: 'look', description: 'Looks', recovery: 'rerun', schema: z.object({}), execute: () => 'seen' });

function branch(name: string, rounds: readonly Usage[]) {
  const responses = rounds.map((usage) => ({ toolCalls: [{ name: 'look' }], usage }));
  return agent({
    name,
    model: scriptedModel([...responses, { text: 'done', usage: { inputTokens: 1, outputTokens: 1 } }], { defaultResponse: { text: 'final' } }),
    tools: [look],
  });
}

/** For each call that was begun with tools: what the ledger says before it is used and reserved. */
function beginnings(events: readonly Event[]): number[] {
  const open = new Map<string, number>();
  const final = new Set<string>();
  const found: number[] = [];
  let used = 0;
  for (const event of events) {
    if (event.type === 'decision' && event.decision === 'exhausted') final.add(event.invocationId ?? '');
    if (event.type === 'model_start') {
      if (!final.has(event.invocationId)) found.push(used + [...open.values()].reduce((sum, tokens) => sum + tokens, 0));
      open.set(event.invocationId, event.estimatedInputTokens + (event.maxOutputTokens ?? 0));
    }
    if (event.type === 'model_end') {
      open.delete(event.invocationId);
      used += event.usage.inputTokens + event.usage.outputTokens;
    }
  }
  return found;
}

const usages = fc.array(fc.record({ inputTokens: fc.nat(60), outputTokens: fc.nat(30) }), { maxLength: 4 });

test('parallel branches begin no call beyond what others have used and reserved, and none is cut short without need', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(usages, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 400 }), async (branches, limit) => {
      const runnables = branches.map((rounds, index) => branch(`b${index}`, rounds));
      const result = await runtime({ app: 'budget' }).run(parallel({ name: 'all', runnables }), { input: 'go', limits: { tokens: limit } });
      expect(result.status).toBe('completed');
      for (const before of beginnings(result.session.events)) expect(before).toBeLessThan(limit);
      const isExhausted = result.session.events.some((event) => event.type === 'decision' && event.decision === 'exhausted');
      const wanted = branches.flat().reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 2 * branches.length);
      if (wanted < limit) expect(isExhausted).toBe(false);
    }),
    { numRuns: 60 },
  );
});

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
  const small = { text: 'ok', usage: { inputTokens: 1, outputTokens: 1 } };
  const models = [scriptedModel([small]), scriptedModel([small])];
  const runnables = models.map((model, index) => {
    const load = () => held(model, promise, () => asked++);
    const settings = { maxTokens: 90 };
    return agent({ name: `b${index}`, model: { kind: 'model', provider: 'p', modelId: 'm', settings, load } });
  });
  const app = runtime({ app: 'budget', store: memoryStore() });
  const session = await app.session({ id: 's' });
  const running = app.run(parallel({ name: 'all', runnables }), { input: 'go', session, limits: { tokens: 80 } });
  await until(() => asked === 1);
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((done) => setImmediate(done));
  expect(asked).toBe(1);
  resolve();
  expect(await running).toMatchObject({ status: 'completed', output: { b0: 'ok', b1: 'ok' } });
  expect(session.events.some((event) => event.type === 'decision')).toBe(false);
  await app.close();
});

test('a call that a stopped process left open is not waited for: whoever would close it may come later', async () => {
  const small = { text: 'ok', usage: { inputTokens: 1, outputTokens: 1 } };
  const model = (name: string) => ({
    kind: 'model' as const,
    provider: 'p',
    modelId: name,
    settings: { maxTokens: 90 },
    load: () => scriptedModel([small]),
  });
  const body = (order: readonly string[]) =>
    step({
      name: 'body',
      execute: async (ctx) => {
        for (const name of order) await ctx.call(agent({ name, model: model(name) }), { message: 'go', key: name });
      },
    });
  const limits = { tokens: 80 };
  const whole = await runtime({ app: 'budget', limits }).run(body(['a', 'b']), { runId: 'run', session: 's' });
  const start = whole.session.events.find(({ type }) => type === 'model_start');
  const runnable = body(['b', 'a']);
  const app = runtime({ app: 'budget', limits, store: memoryStore(), runnables: [runnable] });
  await app.restoreSession({ app: 'budget', id: 's', events: whole.session.events.slice(0, start?.seq) });
  expect(await app.resume('s')).toMatchObject({ status: 'completed' });
  await app.close();
});
