import { agent, memoryStore, type Runtime, runtime, step, tool } from 'adjutant';
import { type EvalOptions, evaluate, scorer } from 'adjutant/eval';
import { scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { app, only, simple, trialsOf } from './simple-eval.ts';
import { cities, weather, weatherCase } from './weather.ts';

describe('trials', () => {
  test('never run more at a time than allowed', async () => {
    for (const concurrency of [1, 3]) {
      const world = weather({ hold: () => new Promise((resolve) => setImmediate(resolve)) });
      await evaluate(
        simple({
          dataset: cities.map((city) => weatherCase(city)),
          variants: [{ name: 'v', app: app(), runnable: world.agent }],
          trials: 2,
          concurrency,
        }),
      );
      expect(world.asked).toHaveLength(12);
      expect(world.mostAtOnce).toBe(concurrency);
    }
  });

  test('fail by themselves', async () => {
    const world = weather({
      answers: (city) => (city === 'Oslo' ? { error: new Error('The model is down.') } : undefined),
    });
    const broken = scorer({
      name: 'broken',
      score: (trial) => {
        if (trial.case.id === 'lima') throw new Error('Out of luck.');
        return true;
      },
    });
    const report = await evaluate(
      simple({
        dataset: ['Pune', 'Oslo', 'Lima'].map((city) => weatherCase(city)),
        variants: [{ name: 'v', app: app(), runnable: world.agent }],
        scorers: [broken],
      }),
    );
    const [pune, oslo, lima] = trialsOf(report);
    expect(pune).toMatchObject({ status: 'completed', passed: true });
    expect(oslo).toMatchObject({
      status: 'error',
      passed: false,
      error: { message: expect.stringContaining('The model is down.') },
    });
    expect(lima).toMatchObject({ status: 'completed', passed: false });
    expect(lima?.scores[0]).toMatchObject({
      score: 0,
      explanation: 'The scorer failed: Out of luck.',
      error: { code: 'scorer_failed' },
    });
    expect(report).toMatchObject({ done: 3, passed: false });
  });

  test('fail when their app cannot be had', async () => {
    const report = await evaluate(
      simple({
        variants: [
          {
            name: 'v',
            open: () => {
              throw new Error('No world today.');
            },
          },
          { name: 'w', open: () => ({}) as never },
        ],
      }),
    );
    expect(trialsOf(report, 0)[0]).toMatchObject({
      status: 'error',
      turns: [],
      error: { message: 'No world today.' },
    });
    expect(trialsOf(report, 1)[0]).toMatchObject({
      status: 'error',
      error: { code: 'invalid_eval', message: expect.stringContaining('`open` must give') },
    });
  });

  test('end when their time is over', async () => {
    const clock = testClock();
    const forever = tool({
      name: 'weather',
      description: 'Waits',
      schema: { type: 'object' },
      execute: () => new Promise(() => undefined),
    });
    const model = scriptedModel(() => ({ toolCalls: [{ name: 'weather' }] }));
    const store = memoryStore({ clock });
    const owner = runtime({ app: 'evals', store, recover: 'manual', ports: { clock } });
    const options = simple({
      variants: [
        {
          name: 'v',
          app: owner,
          runnable: agent({ name: 'slow', model, tools: [forever], supervision: false }),
        },
      ],
      timeoutMs: 5_000,
      runId: 'slow',
      ports: { clock },
    });
    const evaluating = evaluate(options);
    while (model.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(20_000);
    const first = only(await evaluating);
    expect(first).toMatchObject({ status: 'timed_out', passed: false });
    expect(first.error?.message).toMatch(/5000 ms|did not finish/);
    // The ledger remembers it.
    expect(only(await evaluate(options))).toMatchObject({ status: 'timed_out', passed: false });
    expect(model.calls).toHaveLength(1);
  });

  test('end also when a scorer never does', async () => {
    const clock = testClock();
    let isAsked = false;
    const silent = scorer({
      name: 'silent',
      score: () => {
        isAsked = true;
        return new Promise<number>(() => undefined);
      },
    });
    const evaluating = evaluate(simple({ scorers: [silent], timeoutMs: 1_000, ports: { clock } }));
    while (!isAsked) await new Promise((resolve) => setImmediate(resolve));
    // The time of the trial, and then the time that is left to what was told to stop.
    for (let i = 0; i < 3; i++) {
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(only(await evaluating).scores[0]).toMatchObject({
      passed: false,
      error: { code: 'trial_timeout' },
    });
  });

  test('can have an app of their own', async () => {
    const worlds: string[] = [];
    const closed: string[] = [];
    const report = await evaluate({
      name: 'own',
      dataset: [weatherCase('Pune'), weatherCase('Oslo')],
      variants: [
        {
          name: 'v',
          open: (place) => {
            worlds.push(`${place.case.id}/${place.trial}`);
            return {
              app: app(),
              runnable: weather().agent,
              close: () => void closed.push(place.case.id),
            };
          },
        },
      ],
      trials: 2,
      concurrency: 1,
    });
    expect(report.passed).toBe(true);
    expect(worlds).toEqual(['pune/1', 'pune/2', 'oslo/1', 'oslo/2']);
    expect(closed).toEqual(['pune', 'pune', 'oslo', 'oslo']);
  });

  test('share an app that is made once and closed', async () => {
    let made: Runtime | undefined;
    let times = 0;
    const store = memoryStore();
    const closed: string[] = [];
    const watched = {
      ...store,
      for: store.for.bind(store),
      admin: store.admin,
      close: async () => void closed.push('store'),
    };
    const report = await evaluate(
      simple({
        dataset: cities.map((city) => weatherCase(city)),
        variants: [
          {
            name: 'v',
            app: async () => {
              times++;
              made = runtime({ app: 'evals', store: watched, recover: 'manual' });
              return made;
            },
            runnable: weather().agent,
          },
        ],
      }),
    );
    expect([report.passed, times, closed]).toEqual([true, 1, ['store']]);
  });

  test('are runs of anything that can be run', async () => {
    const double = step({
      name: 'double',
      execute: async (ctx) =>
        ctx.complete(Number((ctx.input as { data: { n: number } }).data.n) * 2),
    });
    const report = await evaluate({
      name: 'steps',
      dataset: [{ id: 'two', input: 'Double it', data: { n: 2 } }],
      variants: [{ name: 'v', app: app(), runnable: double }],
      scorers: [
        scorer({ name: 'doubled', score: ({ output, answer }) => output === 4 && answer === '4' }),
      ],
    });
    expect(only(report)).toMatchObject({
      passed: true,
      steps: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  test('start with the state, the user and the scopes of their case', async () => {
    const seen: unknown[] = [];
    const look = step({
      name: 'look',
      execute: async (ctx) => {
        seen.push([ctx.state['mode'], ctx.state['user'] === undefined ? undefined : 'user']);
        ctx.state['mode'] = 'seen';
      },
    });
    const options: EvalOptions = {
      name: 'state',
      dataset: [
        {
          id: 'a',
          input: 'Hi',
          state: { mode: 'triage' },
          userId: 'ann',
          expect: { state: { mode: 'seen' } },
        },
      ],
      variants: [{ name: 'v', app: app(), runnable: look }],
    };
    const owner = app();
    const report = await evaluate({
      ...options,
      variants: [{ name: 'v', app: owner, runnable: look }],
    });
    expect(only(report).passed).toBe(true);
    expect((await owner.sessions.get(only(report).session)).shared.scopeIds).toEqual({
      user: 'ann',
    });
    const other = app();
    const scoped = await evaluate({
      ...options,
      variants: [{ name: 'v', app: other, runnable: look }],
      scopes: ({ session }) => ({ user: session }),
    });
    expect((await other.sessions.get(only(scoped).session)).shared.scopeIds).toEqual({
      user: only(scoped).session,
    });
    expect(seen).toEqual([
      ['triage', 'user'],
      ['triage', 'user'],
    ]);
  });

  test('keep within limits', async () => {
    const endless = weather({
      answers: (city) => ({ toolCalls: [{ name: 'weather', args: { city } }] }),
    });
    const report = await evaluate(
      simple({
        variants: [{ name: 'v', app: app(), runnable: endless.agent }],
        limits: { rounds: 2 },
      }),
    );
    expect(only(report)).toMatchObject({ passed: false });
    expect(only(report).steps).toBeLessThanOrEqual(3);
  });
});
