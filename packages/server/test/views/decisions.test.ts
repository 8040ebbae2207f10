import {
  client,
  type DecisionPage,
  type FailurePage,
  type SessionTree,
} from '@adjutant/server/client';
import { explain, failures, runTree } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { stores } from '../rest/stores.ts';
import { shop } from './shop.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The shop after two runs, of which each waits, and the first of them was answered. */
async function busyShop(store?: Parameters<typeof shop>[0]) {
  const made = shop(store);
  const { app, boss, helper } = made;
  await app.run(boss, { session: 's', input: 'Look.', runId: 'first' });
  const [request] = await app.requests.list({ session: 's', status: 'pending' });
  await app.requests.reject(request?.requestId ?? '', { by: 'operator:ann', reason: 'No money.' });
  await app.resume('s');
  await app.run(helper, { session: 's', input: 'Look again.', runId: 'second' });
  const session = await app.sessions.open({ id: 's', observe: false });
  const { sessions } = client({
    url: 'http://localhost',
    fetch: (input, init) => made.api.fetch(new Request(input, init)),
  });
  return { ...made, session, sessions };
}

describe.each(stores)('on %s', (_name, makeStore) => {
  test('the tree of a session is its run tree, at any event', async () => {
    const { session, sessions, get } = await busyShop(makeStore());
    const { events } = session;
    const last = events.length;
    expect(await sessions.tree('s')).toEqual({ runs: plain(runTree(events)), at: last });
    for (const at of [0, 1, last >> 1, last - 1]) {
      const { body } = await get(`/v1/sessions/s/tree?at=${at}`);
      expect(body as unknown as SessionTree).toEqual({
        runs: plain(runTree(events.slice(0, at))),
        at,
      });
    }
    const { runs } = await sessions.tree('s', { run: 'second' });
    expect(runs).toMatchObject([{ path: 'second', name: 'helper' }]);
  });

  test('decisions are those that are explained, page after page', async () => {
    const { session, sessions, get } = await busyShop(makeStore());
    const last = session.events.length;
    const expected = explain(session);
    expect(expected.length).toBeGreaterThan(2);
    const found: unknown[] = [];
    for (let after = 0; after < last; ) {
      const page = await sessions.decisions('s', { after, limit: 1 });
      expect(page.at).toBe(last);
      found.push(...page.decisions);
      after = page.next;
    }
    expect(found).toEqual(plain(expected));
    const at = (expected[1]?.seq ?? 0) as number;
    const { body } = await get(`/v1/sessions/s/decisions?at=${at}`);
    expect(body as unknown as DecisionPage).toEqual({
      decisions: plain(expected.slice(0, 2)),
      next: at,
      at,
    });
    const { decisions } = await sessions.decisions('s', { component: 'request', run: 'first' });
    expect(decisions).toEqual(plain(explain(session, { components: ['request'], run: 'first' })));
    expect(decisions).toMatchObject([
      { decision: 'ask', what: expect.any(String), alternatives: expect.any(Array) },
      { decision: 'reject', why: 'No money.', by: 'operator:ann' },
    ]);
    expect((await sessions.decisions('s', { run: 'nothing' })).decisions).toEqual([]);
  });

  test('failures are those of the session, up to any event', async () => {
    const { session, sessions, get } = await busyShop(makeStore());
    const last = session.events.length;
    const expected = failures(session);
    expect(await sessions.failures('s')).toEqual({
      failures: plain(expected),
      next: last,
      at: last,
    });
    const [first] = expected;
    expect(first).toMatchObject({ kind: 'tool', name: 'look', agent: 'helper' });
    const at = (first?.seq ?? 0) as number;
    const { body } = await get(`/v1/sessions/s/failures?at=${at}`);
    expect((body as unknown as FailurePage).failures).toEqual(plain([first]));
    expect((await sessions.failures('s', { at: at - 1 })).failures).toEqual([]);
    expect((await sessions.failures('s', { after: at, limit: 1 })).failures).toEqual(
      plain(expected.slice(1, 2)),
    );
  });
});

test.each(['tree', 'decisions', 'failures'])('%s are refused', async (view) => {
  const { app, boss, get } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  const address = `/v1/sessions/s/${view}`;
  const { at: last } = (await get(address)).body as unknown as { readonly at: number };
  expect(await get(`${address}?at=${last + 1}`)).toMatchObject({
    status: 400,
    body: { code: 'seq_out_of_range' },
  });
  for (const query of ['at=-1', 'at=last', 'seq=1'])
    expect((await get(`${address}?${query}`)).status).toBe(400);
  expect(await get(`/v1/sessions/nowhere/${view}`)).toMatchObject({
    status: 404,
    body: { code: 'session_not_found' },
  });
});

test('the tree of a run that has not begun is refused, and pages that are too long', async () => {
  const { app, boss, get } = shop();
  await app.run(boss, { session: 's', input: 'Look.', runId: 'run' });
  for (const query of ['run=other', 'run=run&at=1'])
    expect(await get(`/v1/sessions/s/tree?${query}`)).toMatchObject({
      status: 404,
      body: { code: 'run_not_found' },
    });
  for (const view of ['decisions', 'failures'])
    for (const query of ['limit=0', 'limit=1001', 'after=-1'])
      expect((await get(`/v1/sessions/s/${view}?${query}`)).status).toBe(400);
});
