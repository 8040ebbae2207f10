import { apiKeys } from '@adjutant/server';
import { runtime } from 'adjutant';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { appendLongSession } from '../../bench/dashboard/long-session.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

const events = 2_000;
/** Requests in a minute: opening the page takes about twenty of them. */
const perMinute = 100;

/** Opens a session of 2,000 events at a server that takes few requests. */
async function openLong() {
  const app = runtime({ app: 'long', store: await testStore(), recover: 'manual' });
  await appendLongSession(app, 'long', events);
  const { credential } = await apiKeys(app).create({ name: 'reader', roles: ['viewer'] });
  const watched = await opened(app, {
    path: '/sessions/long',
    serve: { auth: {}, limits: { requestsPerMinute: perMinute } },
  });
  const { page } = watched;
  await page.getByLabel('API key or token').fill(credential);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('slider', { name: 'Ledger' }).waitFor();
  await page.locator(`[data-at="${events}"]`).waitFor();
  return { ...watched, app };
}

/** Waits until the panels show the event at which the strip stands; returns its seq. */
async function rested(page: Page): Promise<number> {
  const slider = page.getByRole('slider', { name: 'Ledger' });
  const seq = Number(await slider.getAttribute('aria-valuenow'));
  await page.locator(`[data-at="${seq}"]`).waitFor();
  return seq;
}

test('a drag over 2,000 events asks seldom, and is right where it rests', async () => {
  const { page, app, requests, problems } = await openLong();
  const box = await page.getByRole('slider', { name: 'Ledger' }).boundingBox();
  if (box === null) throw new Error('The strip has no place');
  const asked = () => requests.filter((request) => request.includes('/moment')).length;
  const before = asked();
  await page.mouse.move(box.x + 2, box.y + 30);
  await page.mouse.down();
  const began = performance.now();
  await page.mouse.move(box.x + box.width - 40, box.y + 30, { steps: 40 });
  await page.mouse.up();
  const seq = await rested(page);
  expect(seq).toBeGreaterThan(events / 2);
  // Five in a second, however long the drag takes here; the first five are free.
  const allowed = Math.ceil((performance.now() - began) / 200) + 5;
  expect(asked() - before).toBeLessThanOrEqual(allowed);
  expect(problems.filter((problem) => problem.includes('429'))).toEqual([]);
  const { sessionState } = (await app.sessions.stateAt('long', seq)) as unknown as {
    sessionState: Readonly<Record<string, unknown>>;
  };
  const keys = await page.locator('[aria-label="State"] dl dt').allTextContents();
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) expect(Object.keys(sessionState)).toContain(key);
});

test('a refusal of too many requests is told quietly, and waited out', async () => {
  const { page } = await openLong();
  let refused = 0;
  await page.route('**/moment*', async (route) => {
    if (refused++ > 0) return route.continue();
    // As a proxy in front of the server refuses.
    return route.fulfill({ status: 429, headers: { 'retry-after': '2' }, body: '' });
  });
  await page.keyboard.press('Home');
  await page.getByText('The server takes no more requests of you').waitFor();
  // Moves during the wait send nothing.
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  expect(await rested(page)).toBe(3);
  expect(refused).toBe(2);
  await page.getByText('The server takes no more requests of you').waitFor({ state: 'hidden' });
});
