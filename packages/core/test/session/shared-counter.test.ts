import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  agent,
  type Event,
  memoryStore,
  parallel,
  type Runnable,
  runtime,
  type Session,
  type Store,
  step,
  tool,
} from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = { session: {}, user: { n: z.number() } };
const increment = (n = 0): number => n + 1;

const add = tool({
  name: 'add',
  description: 'Adds one',
  schema: z.object({}),
  stateSchema,
  execute: (ctx) => {
    ctx.state.user.update('n', increment);
    return 'added';
  },
});

/** Runnables that add one to the counter `times` times, each in its way. */
const ways: Readonly<Record<string, (name: string, times: number) => Runnable>> = {
  step: (name, times) =>
    step({
      name,
      stateSchema,
      execute: async (ctx) => {
        const child = step({ name: `${name}-child`, execute: () => undefined });
        for (let i = 0; i < times; i++) {
          ctx.state.user.update('n', increment);
          await ctx.call(child, { key: `k${i}` });
        }
      },
    }),
  branches: (name, times) =>
    parallel({
      name,
      runnables: Array.from({ length: times }, (_, i) =>
        step({
          name: `${name}-branch${i}`,
          stateSchema,
          execute: (ctx) => ctx.state.user.update('n', increment) as undefined,
        }),
      ),
    }),
  tools: (name, times) =>
    agent({
      name,
      model: scriptedModel([
        { toolCalls: Array.from({ length: times }, () => ({ name: 'add', args: {} })) },
        { text: 'done' },
      ]),
      tools: [add],
    }),
};

/**
 * Counts the increments of a session by its ledger, and checks that each follows from the value
 * that it knew.
 */
function incrementsIn(events: readonly Event[]): number {
  let increments = 0;
  for (const event of events) {
    if (event.type !== 'state_change') continue;
    for (const { oldValue, newValue } of event.changes) {
      if (event.source === 'observation') continue;
      expect(newValue).toBe(increment(oldValue as number | undefined));
      increments++;
    }
  }
  return increments;
}

function refusalsIn(events: readonly Event[]): number {
  return events.filter((event) => event.type === 'decision' && event.decision === 'refuse_write')
    .length;
}

async function countTogether(
  stores: readonly Store[],
  plans: readonly (readonly [string, number])[],
): Promise<void> {
  const apps = stores.map((store) => runtime({ app: 'counter', store, stateSchema }));
  const sessions: Session<typeof stateSchema>[] = [];
  await Promise.all(
    plans.map(async ([way, times], i) => {
      const app = apps[i % apps.length] as (typeof apps)[number];
      const session = await app.sessions.open({ id: `s${i}`, userId: 'u', stateSchema });
      sessions.push(session);
      await app.run((ways[way] as (typeof ways)[string])(`counter${i}`, times), {
        session,
        input: 'Count',
      });
    }),
  );
  const wanted = plans.reduce((sum, [, times]) => sum + times, 0);
  const made = sessions.reduce((sum, { events }) => sum + incrementsIn(events), 0);
  const refused = sessions.reduce((sum, { events }) => sum + refusalsIn(events), 0);
  const reader = await (apps[0] as (typeof apps)[number]).sessions.open({
    id: 'reader',
    userId: 'u',
    stateSchema,
  });
  expect(reader.state.user.n).toBe(made);
  // A session that was kept from writing too often says so, and leaves out its other writes.
  expect(made === wanted || refused > 0).toBe(true);
  // As many sessions as a function may be called again cannot keep each other from writing.
  if (plans.length <= 2) expect(made).toBe(wanted);
  for (const session of sessions) {
    await session.observeShared();
    expect(session.state.user.n).toBe(made);
  }
  await Promise.all(apps.map((app) => app.close()));
}

const plan = fc.tuple(fc.constantFrom(...Object.keys(ways)), fc.integer({ min: 1, max: 5 }));

describe('sessions that count together', () => {
  test('never lose an increment in memory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 2, maxLength: 6 }), (plans) =>
        countTogether([memoryStore()], plans),
      ),
      { numRuns: 40 },
    );
  });

  test('never lose an increment in one SQLite file, from two processes that share it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'adjutant-counter-'));
    try {
      let file = 0;
      const stores = () => {
        const path = join(folder, `${file++}.db`);
        return [sqlite(path), sqlite(path)];
      };
      await fc.assert(
        fc.asyncProperty(fc.array(plan, { minLength: 2, maxLength: 5 }), (plans) =>
          countTogether(stores(), plans),
        ),
        { numRuns: 8 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
