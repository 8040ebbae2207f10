import { client, type EventQuery } from '@adjutant/server/client';
import type { StoredEvent } from 'adjutant';
import { matchingEvents, storedEventTypes } from 'adjutant/views';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appWith, manyRuns, session } from '../repairs/stream/long-session.ts';
import { callerOf } from '../rest/caller.ts';
import { stores } from '../rest/stores.ts';
import { shop } from './shop.ts';

const filters = fc.record(
  {
    type: fc.subarray([...storedEventTypes], { minLength: 1 }),
    agent: fc.constantFrom('boss', 'helper', 'nobody'),
    from: fc.integer({ min: -50, max: 50 }),
    to: fc.integer({ min: -50, max: 50 }),
    text: fc.constantFrom('LOOK', 'paid', 'nowhere', '"name"'),
    limit: fc.integer({ min: 1, max: 10 }),
    values: fc.constantFrom('references' as const, 'full' as const),
  },
  { requiredKeys: [] },
);

describe.each(stores)('events on %s', (_name, makeStore) => {
  test('are narrowed as the events of a session are, page after page', async () => {
    const { app, boss, api } = shop(makeStore());
    await app.run(boss, { session: 's', input: 'Look.', runId: 'run' });
    const { events } = await app.sessions.get('s');
    const middle = events[events.length >> 1]?.at ?? 0;
    const { sessions } = client({
      url: 'http://localhost',
      fetch: (input, init) => api.fetch(new Request(input, init)),
    });
    await fc.assert(
      fc.asyncProperty(filters, async ({ from, to, ...rest }) => {
        const times = {
          ...(from === undefined ? {} : { from: middle + from }),
          ...(to === undefined ? {} : { to: middle + to }),
        };
        const query: EventQuery = { ...rest, ...times };
        const found: StoredEvent[] = [];
        for await (const event of sessions.events('s', query)) found.push(event);
        const { type: types, agent, text } = rest;
        const expected = matchingEvents(events, { types, agent, text, ...times });
        expect(found).toEqual(JSON.parse(JSON.stringify(expected)));
      }),
      { numRuns: 40 },
    );
  });
});

test('a page of a long session ends after many events, and says where', async () => {
  const app = await appWith(shop().app.store, manyRuns(2_100));
  const { get } = callerOf(app, { limits: { requestsPerMinute: false } });
  const events = `/v1/sessions/${session}/events`;
  const first = (await get(`${events}?text=run-2100&limit=1000`)).body;
  expect(first).toMatchObject({ events: [], next: 20_000, last: 21_000 });
  const second = (await get(`${events}?text=run-2100&after=${first.next}&limit=1000`)).body;
  expect(second.next).toBe(21_000);
  expect(second.events.map(({ seq }) => seq)).toEqual(
    Array.from({ length: 10 }, (_, index) => 20_991 + index),
  );
  const asked = (await get(`${events}?type=user&after=20000&limit=3`)).body;
  expect(asked.events.map(({ seq }) => seq)).toEqual([20_002, 20_012, 20_022]);
  expect(asked.next).toBe(20_022);
});

test.each([
  'type=chat',
  'type=user,',
  'type=',
  'agent=',
  'from=yesterday',
  'to=',
  'text=',
  `text=${'x'.repeat(1_001)}`,
  'words=refund',
])('events with %s are refused', async (query) => {
  const { app, boss, get } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  expect(await get(`/v1/sessions/s/events?${query}`)).toMatchObject({ status: 400 });
  expect((await get('/v1/sessions/nowhere/events?type=user')).status).toBe(404);
});
