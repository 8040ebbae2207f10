import {
  agent,
  type Event,
  isAdjutantError,
  memoryStore,
  type Run,
  runtime,
  sequence,
  session,
  step,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = { session: {}, user: { n: z.number() } };

/** A session that knows the shared n = 1, and another one that sets it. */
async function rivals() {
  const app = runtime({ app: 'observe', store: memoryStore(), stateSchema });
  const mine = await app.sessions.open({ id: 'mine', userId: 'u', stateSchema });
  mine.state.user.n = 1;
  await mine.flush();
  const other = await app.sessions.open({ id: 'other', userId: 'u', stateSchema });
  const set = async (n: number): Promise<void> => {
    await other.observeShared();
    other.state.user.n = n;
    await other.flush();
  };
  return { app, mine, set };
}

function observationsOf(events: readonly Event[]) {
  return events.flatMap((event) =>
    event.type === 'state_change' && event.source === 'observation' ? [event] : [],
  );
}

async function stopAtFirstEnd(run: Run): Promise<void> {
  try {
    for await (const event of run) if (event.type === 'invocation_end') run.stop();
    await run;
  } catch (error) {
    // Any other end is no stop.
    if (!isAdjutantError(error, 'run_stopped')) throw error;
  }
}

test('what others changed is recorded before the next invocation starts', async () => {
  const { app, mine, set } = await rivals();
  const seen: unknown[] = [];
  const look = (name: string, next: number) =>
    step({
      name,
      stateSchema,
      execute: async (ctx) => {
        seen.push(ctx.state.user.n);
        await set(next);
        // A step sees what was there when it started.
        seen.push(ctx.state.user.n);
      },
    });
  await app.run(sequence({ name: 's', runnables: [look('first', 2), look('second', 3)] }), {
    session: mine,
  });
  expect(seen).toEqual([1, 1, 2, 2]);
  expect(observationsOf(mine.events).map(({ changes }) => changes)).toEqual([
    [{ key: 'n', oldValue: 1, newValue: 2 }],
  ]);
  await app.close();
});

describe('refresh', () => {
  test('shows a step what others have changed, and lets it write on top of that', async () => {
    const { app, mine, set } = await rivals();
    const seen: unknown[] = [];
    const look = step({
      name: 'look',
      stateSchema,
      execute: async (ctx) => {
        seen.push(ctx.state.user.n);
        await set(5);
        await ctx.state.refresh();
        seen.push(ctx.state.user.n);
        ctx.state.user.n = (ctx.state.user.n ?? 0) + 1;
      },
    });
    expect(await app.run(look, { session: mine, runId: 'run' })).toMatchObject({
      status: 'completed',
    });
    expect(seen).toEqual([1, 5]);
    expect(mine.state.user.n).toBe(6);
    expect(observationsOf(mine.events)).toMatchObject([
      { invocationId: 'run', changes: [{ key: 'n', oldValue: 1, newValue: 5 }] },
    ]);
    await app.close();
  });

  test('shows a step that runs again what it showed the first time', async () => {
    const { app, mine, set } = await rivals();
    const seen: unknown[] = [];
    const child = step({ name: 'child', execute: () => undefined });
    const look = step({
      name: 'look',
      stateSchema,
      execute: async (ctx) => {
        await ctx.state.refresh();
        const before = ctx.state.user.n;
        await set((before ?? 0) + 10);
        await ctx.state.refresh();
        seen.push([before, ctx.state.user.n]);
        await ctx.call(child, { key: 'a' });
        await ctx.call(child, { key: 'b' });
      },
    });
    await stopAtFirstEnd(app.run(look, { session: mine }));
    expect(await app.resume(mine)).toMatchObject({ status: 'completed' });
    expect(seen).toEqual([
      [1, 11],
      [1, 11],
    ]);
    await app.close();
  });

  test('of a tool, and of a session outside of runs', async () => {
    const { app, mine, set } = await rivals();
    const seen: unknown[] = [];
    const look = tool({
      name: 'look',
      description: 'Looks',
      schema: z.object({}),
      stateSchema,
      execute: async (ctx) => {
        const before = ctx.state.user.n;
        await set(7);
        await ctx.state.refresh();
        seen.push(before, ctx.state.user.n);
        ctx.state.user.n = 8;
        return 'looked';
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'look', args: {} }] }, { text: 'done' }]);
    await app.run(agent({ name: 'a', model, tools: [look] }), { session: mine, input: 'Go' });
    expect(seen).toEqual([1, 7]);
    expect(mine.state.user.n).toBe(8);
    await set(9);
    await mine.state.refresh();
    expect(mine.state.user.n).toBe(9);
    await app.close();
  });

  test('cannot be a key of session state', async () => {
    const { state } = await session('names');
    expect(() => state.update({ refresh: 1 })).toThrow('the name is reserved');
    await expect(state.refresh()).resolves.toBeUndefined();
  });
});

describe('a bound object', () => {
  test('is a scope of the session, and is told of what is durable, in order', async () => {
    const visit = await session('clinic');
    const patient: Record<string, unknown> = { name: 'Ada', old: true };
    const told: unknown[] = [];
    visit.bindSharedState('patient', patient, async (key, value) => {
      await Promise.resolve();
      told.push([key, value]);
    });
    const state = visit.state as unknown as { patient: Record<string, unknown> };
    expect({ ...state.patient }).toEqual({ name: 'Ada', old: true });
    await visit.flush();
    expect(told).toEqual([]);
    state.patient['allergies'] = ['pollen'];
    delete state.patient['old'];
    expect(patient).not.toHaveProperty('allergies');
    await visit.flush();
    expect(patient).toEqual({ name: 'Ada', allergies: ['pollen'] });
    expect(told).toEqual([
      ['allergies', ['pollen']],
      ['old', undefined],
    ]);
    patient['name'] = 'Grace';
    await visit.observeShared();
    expect(state.patient['name']).toBe('Grace');
    expect(
      observationsOf(visit.events).map(({ scope, changes }) => [
        scope,
        changes.map(({ newValue }) => newValue),
      ]),
    ).toEqual([
      ['patient', ['Ada', true]],
      ['patient', ['Grace']],
    ]);
  });

  test('is written by runs', async () => {
    const app = runtime({ app: 'bound' });
    const visit = await app.sessions.open();
    const patient: Record<string, unknown> = { visits: 1 };
    visit.bindSharedState('patient', patient);
    const count = step({
      name: 'count',
      execute: (ctx) => {
        (
          ctx.state['patient'] as { update(key: string, change: (value: number) => number): void }
        ).update('visits', (visits) => visits + 1);
      },
    });
    expect(await app.run(count, { session: visit })).toMatchObject({ status: 'completed' });
    expect(patient).toEqual({ visits: 2 });
  });

  test('whose onWrite fails says so when the session is flushed, and goes on', async () => {
    const visit = await session('clinic');
    const told: string[] = [];
    visit.bindSharedState('patient', {}, (key) => {
      told.push(key);
      if (key === 'a') throw new Error('the database is down');
    });
    const { patient } = visit.state as unknown as { patient: Record<string, unknown> };
    patient['a'] = 1;
    patient['b'] = 2;
    await expect(visit.flush()).rejects.toMatchObject({
      code: 'state_binding',
      data: { scope: 'patient', key: 'a', reason: 'the database is down' },
    });
    await visit.flush();
    expect(told).toEqual(['a', 'b']);
  });

  test.each([
    ['session', 'the name of a shared scope'],
    ['', 'the name of a shared scope'],
    ['refresh', 'the name of a shared scope'],
    ['user', 'takes part in a scope of this name already'],
    ['mode', 'has a key of this name'],
  ])('cannot be called "%s" where that is something else', async (name, reason) => {
    const visit = await session('clinic', { userId: 'u' });
    (visit.state as Record<string, unknown>)['mode'] = 'triage';
    expect(() => visit.bindSharedState(name, {})).toThrow(reason);
  });

  test('must hold JSON', async () => {
    const visit = await session('clinic');
    expect(() => visit.bindSharedState('patient', { born: new Date(0) })).toThrow(
      expect.objectContaining({ code: 'not_json' }),
    );
    expect((visit.state as Record<string, unknown>)['patient']).toBeUndefined();
  });
});
