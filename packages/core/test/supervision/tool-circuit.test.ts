import { agent, type Event, memoryStore, runtime, type Store, tool } from 'adjutant';
import {
  eventually,
  model,
  runTest,
  scriptedModel,
  type TestClock,
  testClock,
  user,
} from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { againAfter, succeeded, thenTool } from '../result-patterns.ts';
import { asks, failing, http, results, worker } from './failing-tool.ts';

describe('the circuit of a tool', () => {
  test(
    'opens, lets one call through, and closes, over the runs of a runtime, and each change ' +
      'is on record',
    async () => {
      const clock = testClock();
      const app = runtime({
        app: 'circuits',
        ports: { clock },
        supervision: { circuitBreaker: { failures: 3, resetAfterMs: 60_000 } },
      });
      let isUp = false;
      const page = failing(() => (isUp ? 'the page' : http(503)), { readOnly: true });
      const call = { toolCalls: [{ name: 'fetch' }] };
      const worker = agent({
        name: 'worker',
        model: scriptedModel([
          call,
          call,
          { text: 'a' },
          call,
          { text: 'b' },
          call,
          { text: 'c' },
          call,
          { text: 'd' },
        ]),
        tools: [page],
      });
      const changes = (events: readonly Event[]) =>
        explain(events, { components: ['circuit_breaker'] }).map(({ decision }) => decision);
      const first = await eventually(app.run(worker, 'Go'), { clock });
      expect(page.runs).toEqual([1, 2, 3]);
      expect(changes(first.session.events)).toEqual(['open', 'refuse']);
      expect(results(first.session.events).at(-1)).toMatchObject({
        attempt: 0,
        result: { errorType: 'circuit_open' },
      });
      // Another session of the runtime: its tool is still left alone.
      const second = await eventually(app.run(worker, 'Go'), { clock });
      expect(changes(second.session.events)).toEqual(['refuse']);
      clock.advance(60_000);
      const third = await eventually(app.run(worker, { input: 'Go', session: second.session }), {
        clock,
      });
      expect(changes(third.session.events).slice(1, 3)).toEqual(['half_open', 'open']);
      isUp = true;
      clock.advance(60_000);
      const fourth = await eventually(app.run(worker, 'Go'), { clock });
      expect(changes(fourth.session.events)).toEqual(['half_open', 'close']);
      expect(explain(fourth.session.events, { components: ['circuit_breaker'] })[1]).toMatchObject({
        why: expect.stringContaining('works again'),
        alternatives: expect.any(Array),
        data: { tool: 'fetch', failures: 4 },
      });
    },
  );

  test(
    "stays closed for failures that are not the tool's, and for an agent that " + 'does without',
    async () => {
      for (const how of [
        () => http(404),
        () => http(403),
        () => http(429),
        () => new Error('no such order'),
      ]) {
        const pages = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].flatMap((page) =>
          asks('fetch', { page }),
        );
        expect(
          explain(
            (await runTest(worker([failing(how)]), [user('Go'), ...pages, model('done')])).events,
            { components: ['circuit_breaker'] },
          ),
        ).toEqual([]);
      }
      const many = [0, 1, 2, 3].flatMap((page) => asks('fetch', { page }));
      const broken = failing(() => http(500), { readOnly: true });
      const without = await runTest(worker([broken], { supervision: { circuitBreaker: false } }), [
        user('Go'),
        ...many,
        model('done'),
      ]);
      expect(explain(without.events, { components: ['circuit_breaker'] })).toEqual([]);
      expect(broken.runs).toHaveLength(12);
    },
  );

  test('that is open lets the fallback tool stand in', async () => {
    const other = tool({
      name: 'other',
      description: 'x',
      schema: z.looseObject({}),
      execute: () => 'from the other',
    });
    const broken = failing(() => http(500), { readOnly: true, fallback: 'other' });
    const { events } = await runTest(
      worker([broken, other]),
      [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')],
      {
        runtime: { supervision: { circuitBreaker: { failures: 2 } } },
      },
    );
    expect(results(events)).toMatchObject([
      againAfter(1_000),
      againAfter(2_000),
      thenTool('other'),
      succeeded,
      thenTool('other'),
      succeeded,
    ]);
    expect(broken.runs).toEqual([1, 2]);
  });
});

describe('the circuit of a tool after a restart', () => {
  const supervision = {
    circuitBreaker: { failures: 2, resetAfterMs: 60_000 },
    errors: false,
  } as const;
  const call = { toolCalls: [{ name: 'fetch' }] };

  function started(store: Store, clock: TestClock) {
    const page = failing(() => http(503), { readOnly: true, retry: { attempts: 1 } });
    const model = scriptedModel([call, call, { text: 'a' }]);
    const worker = agent({ name: 'worker', model, tools: [page] });
    const app = runtime({ app: 'circuits', store, ports: { clock }, supervision });
    const run = (session: string) =>
      eventually(app.run(worker, { input: 'Go', session }), { clock });
    return { app, page, run };
  }

  test('is open for the rest of its time, by the ledger of a session that goes on', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const before = started(store, clock);
    await before.run('s');
    expect(before.app.circuits).toEqual([
      { tool: 'fetch', state: 'open', failures: 2, retryInMs: 60_000 },
    ]);
    clock.advance(20_000);
    const after = started(store, clock);
    expect(after.app.circuits).toEqual([]);
    const { session } = await after.run('s');
    expect(after.page.runs).toEqual([]);
    expect(results(session.events).at(-1)).toMatchObject({
      result: { errorType: 'circuit_open' },
    });
    expect(after.app.circuits).toEqual([
      { tool: 'fetch', state: 'open', failures: 2, retryInMs: expect.closeTo(40_000, -3) },
    ]);
    clock.advance(40_000);
    expect(after.app.circuits).toMatchObject([{ state: 'half_open', retryInMs: 0 }]);
  });

  test('is closed when its time is over, and in sessions that do not know it', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    await started(store, clock).run('s');
    const other = started(store, clock);
    await other.run('other');
    expect(other.page.runs).toEqual([1, 1]);
    clock.advance(60_000);
    const later = started(store, clock);
    await later.run('s');
    expect(later.page.runs).toEqual([1, 1]);
  });

  test('is not there where circuits are off', async () => {
    const app = runtime({ app: 'circuits', supervision: { circuitBreaker: false } });
    expect(app.circuits).toEqual([]);
  });
});
