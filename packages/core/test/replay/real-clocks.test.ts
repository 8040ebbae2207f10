import { agent, runtime, step, ToolFailure, tool } from 'adjutant';
import { recordedLedgerOf, replay } from 'adjutant/replay';
import { eventually, roundModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { problemOf } from './recorded-runs.ts';

function define() {
  const fetching = tool({
    name: 'fetch',
    description: 'Fetches',
    schema: z.object({}),
    recovery: 'rerun',
    execute: () => {
      throw new ToolFailure('busy', { errorType: 'http_503' });
    },
  });
  const model = roundModel([{ toolCalls: [{ name: 'fetch' }] }, { text: 'later' }]);
  return agent({
    name: 'fetcher',
    model,
    tools: [fetching],
    supervision: { errors: { initialDelayMs: 40 } },
  });
}

test('timers that are ahead of the time of day by a few milliseconds are no divergence', async () => {
  const clock = testClock();
  const root = define();
  const app = runtime({ app: 'clocks', recover: 'manual', runnables: [root], ports: { clock } });
  const running = app.run(root, { session: 's', input: 'Go', runId: 'run' });
  await eventually(running.settled(), { clock, stepMs: 1 });
  const record = recordedLedgerOf((await running).session);
  const second = record.events.findIndex(
    (event) => event.type === 'tool_attempt' && event.attempt === 2,
  );
  expect(second).toBeGreaterThan(0);
  const early = {
    ...record,
    events: record.events.map((event, at) =>
      at < second ? event : { ...event, at: event.at - 3 },
    ),
  };
  expect(
    await problemOf(early, runtime({ app: 'clocks', recover: 'manual', runnables: [define()] })),
  ).toBeUndefined();
});

test('a sleep that its step came to later by the clock is no divergence', async () => {
  const clock = testClock();
  const nap = step({
    name: 'nap',
    execute: async (ctx) => {
      clock.advance(7);
      await ctx.sleep('short', 20);
      return ctx.complete('rested');
    },
  });
  const app = runtime({ app: 'clocks', recover: 'manual', runnables: [nap], ports: { clock } });
  const running = app.run(nap, { session: 's', runId: 'run' });
  await eventually(running.settled(), { clock, stepMs: 1 });
  expect((await replay((await running).session, app)).divergence).toBeUndefined();
});

test('a replay leaves no timers behind', async () => {
  const root = agent({ name: 'talker', model: roundModel([{ text: 'hello' }]) });
  const { session } = await runtime({ app: 'clocks', recover: 'manual', runnables: [root] }).run(
    root,
    { session: 's', input: 'Go' },
  );
  const record = recordedLedgerOf(session);
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const grown: number[] = [];
  // Work that other tests of the process left behind may arm timers, too, but not each time.
  for (let i = 0; i < 3; i++) {
    const before = timers();
    await Promise.all(
      Array.from({ length: 20 }, () =>
        replay(record, runtime({ app: 'clocks', recover: 'manual', runnables: [root] })),
      ),
    );
    grown.push(timers() - before);
  }
  expect(Math.min(...grown)).toBeLessThan(10);
});
