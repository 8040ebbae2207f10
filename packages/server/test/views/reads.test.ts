import { expect, test } from 'vitest';
import {
  append,
  appWith,
  countedReads,
  manyRuns,
  runEvents,
  session,
} from '../repairs/stream/long-session.ts';
import { callerOf } from '../rest/caller.ts';

/** A session of 10,000 events, and how many of them a request reads. */
async function longSession() {
  const { store, reads } = countedReads();
  const app = await appWith(store, manyRuns(1_000));
  const { get } = callerOf(app, { limits: { requestsPerMinute: false } });
  const readBy = async (path: string): Promise<number> => {
    const before = reads.events;
    expect((await get(`/v1/sessions/${session}/${path}`)).status).toBe(200);
    return reads.events - before;
  };
  return { app, readBy };
}

test('an outline reads what has come since the last one', async () => {
  const { app, readBy } = await longSession();
  expect(await readBy('outline')).toBe(10_000);
  expect(await readBy('outline?after=9990')).toBeLessThan(10);
  await append(app, runEvents('late'), session);
  expect(await readBy('outline?after=10000')).toBeLessThan(20);
});

test('a moment reads what comes after a stored state', async () => {
  const { readBy } = await longSession();
  expect(await readBy('moment')).toBe(10_000);
  for (const at of [2_500, 5_000, 8_765, 9_999])
    expect(await readBy(`moment?at=${at}`)).toBeLessThan(3_000);
});

test('filters by type, agent and time read what they choose', async () => {
  const { readBy } = await longSession();
  await readBy('outline');
  expect(await readBy('events?type=handoff')).toBeLessThan(10);
  expect(await readBy('events?type=user&after=9000&limit=5')).toBeLessThan(1_100);
  expect(await readBy('events?agent=nobody&text=run')).toBeLessThan(10);
});

test('pages of decisions and failures read the ledger once, until it grows', async () => {
  const { app, readBy } = await longSession();
  expect(await readBy('decisions')).toBeGreaterThan(9_999);
  expect(await readBy('decisions?after=5000')).toBeLessThan(10);
  expect(await readBy('decisions?component=request&at=700')).toBeLessThan(10);
  await append(app, runEvents('late'), session);
  expect(await readBy('decisions')).toBeGreaterThan(9_999);
  expect(await readBy('failures')).toBeGreaterThan(9_999);
  expect(await readBy('failures')).toBeLessThan(10);
});
