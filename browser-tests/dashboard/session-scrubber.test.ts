import type { Runtime } from 'adjutant';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

/** Ten sessions at 200 places with `--long`; otherwise one at twenty. */
const isLong = process.env['DASHBOARD_LONG'] === '1';
const sessions = isLong ? 10 : 1;
const places = isLong ? 200 : 20;
/** Milliseconds for all of them: a place takes up to half a second on a loaded machine. */
const patienceMs = isLong ? 1_800_000 : 120_000;

async function chased() {
  const { app, chase } = office(await testStore());
  for (let i = 0; i < sessions; i++)
    await app.run(chase, { session: `chase-${i}`, input: 'Chase the unpaid invoices.' });
  return app;
}

/** Goes to an event by the strip's keys, and waits until the panels show it. */
async function goTo(page: Page, seq: number): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', location.pathname + '?at=${seq}');
      dispatchEvent(new PopStateEvent('popstate'))`,
  );
  await page.locator(`[aria-label="Panels"][data-at="${seq}"]`).waitFor();
}

/** State as the panel shows it, by key. */
async function shownState(page: Page): Promise<Readonly<Record<string, string>>> {
  return page.evaluate(`Object.fromEntries(
    [...document.querySelectorAll('[aria-label="State"] dl > div')].map((row) => [
      row.querySelector('dt').textContent,
      row.querySelector('dd').lastElementChild.textContent,
    ]))`);
}

/** True when a row of the ledger lies within its list. */
function isInSight(page: Page, id: string): Promise<boolean> {
  return page.evaluate(`(() => {
    const row = document.getElementById(${JSON.stringify(id)}).getBoundingClientRect();
    const list = document.querySelector('[role=listbox]').getBoundingClientRect();
    return row.top >= list.top && row.bottom <= list.bottom;
  })()`);
}

async function stateAt(app: Runtime, session: string, seq: number) {
  const { sessionState } = (await app.sessions.stateAt(session, seq)) as unknown as {
    sessionState: Readonly<Record<string, unknown>>;
  };
  return Object.fromEntries(
    Object.entries(sessionState).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

test('every panel shows the chosen event: the state equals `stateAt`', {
  timeout: patienceMs,
}, async () => {
  const app = await chased();
  const { page, problems, url } = await opened(app, { path: '/sessions/chase-0' });
  for (let i = 0; i < sessions; i++) {
    const session = `chase-${i}`;
    await page.goto(`${url}/sessions/${session}?at=1`);
    await page.getByRole('slider', { name: 'Ledger' }).waitFor();
    const last = (await app.sessions.list({ id: session })).sessions[0]?.seq ?? 0;
    for (let place = 0; place < places; place++) {
      // Spread over the ledger, in an order that jumps back and forth.
      const seq = 1 + ((place * 37 + i * 11) % last);
      await goTo(page, seq);
      expect(await shownState(page)).toEqual(await stateAt(app, session, seq));
      const slider = page.getByRole('slider', { name: 'Ledger' });
      expect(await slider.getAttribute('aria-valuenow')).toBe(String(seq));
      const chosen = page.locator('[role=option][aria-selected=true]');
      expect(await chosen.first().getAttribute('id')).toBe(`event-${seq}`);
      expect(await isInSight(page, `event-${seq}`)).toBe(true);
    }
  }
  expect(problems).toEqual([]);
});

test('keys move through the ledger, and the address says where', async () => {
  const app = await chased();
  const { page, problems } = await opened(app, { path: '/sessions/chase-0' });
  const slider = page.getByRole('slider', { name: 'Ledger' });
  await slider.waitFor();
  const last = Number(await slider.getAttribute('aria-valuemax'));
  const at = async (seq: number) => {
    await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe(String(seq));
  };
  await at(last);
  await page.keyboard.press('Home');
  await at(1);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await at(3);
  await page.keyboard.press('Shift+ArrowRight');
  await at(13);
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('13');
  await page.keyboard.press(']');
  const call = Number(await slider.getAttribute('aria-valuenow'));
  expect(call).toBeGreaterThan(13);
  expect(await slider.getAttribute('aria-valuetext')).toContain('model_start');
  await page.keyboard.press('Alt+ArrowRight');
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toContain('decision');
  await page.keyboard.press('l');
  await at(last);
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(null);
  await page.keyboard.press('p');
  await page.getByRole('complementary', { name: 'Prompt inspector' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('complementary', { name: 'Prompt inspector' }).waitFor({ state: 'hidden' });
  expect(problems).toEqual([]);
});

test('a press and a drag on the strip go there at once', async () => {
  const app = await chased();
  const { page } = await opened(app, { path: '/sessions/chase-0' });
  const slider = page.getByRole('slider', { name: 'Ledger' });
  await slider.waitFor();
  const last = Number(await slider.getAttribute('aria-valuemax'));
  const box = await slider.boundingBox();
  if (box === null) throw new Error('The strip has no place');
  const place = (seq: number): number => box.x + ((seq - 0.5) / last) * box.width;
  await page.mouse.move(place(10), box.y + 30);
  await page.mouse.down();
  expect(await slider.getAttribute('aria-valuenow')).toBe('10');
  await page.mouse.move(place(20), box.y + 30, { steps: 5 });
  expect(await slider.getAttribute('aria-valuenow')).toBe('20');
  await page.mouse.move(box.x + box.width + 300, box.y + 30);
  expect(await slider.getAttribute('aria-valuenow')).toBe(String(last));
  await page.mouse.up();
  await page.mouse.move(place(20), box.y + 30);
  await page.mouse.wheel(0, -100);
  await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe(String(last - 1));
});

test('links lead to an event; what is not there is said to be not there', async () => {
  const app = await chased();
  const { page, url } = await opened(app, { path: '/sessions/chase-0?at=12&panel=prompt' });
  await page.getByText('#12').first().waitFor();
  await page.goto(`${url}/sessions/chase-0?at=100000`);
  await page.getByText('There is no event #100,000 in this session.').waitFor();
  await page.getByRole('button', { name: 'Go to the newest' }).click();
  await page.getByRole('slider', { name: 'Ledger' }).waitFor();
  await page.goto(`${url}/sessions/nowhere`);
  await page.getByText('The session: not there, or not any more.').waitFor();
  await page.goto(`${url}/tasks/one/more`);
  await page.getByText('There is no page at /tasks/one/more.').waitFor();
});

test('a session is followed: what happens is there without a reload', async () => {
  const app = await chased();
  const { page } = await opened(app, { path: '/sessions/chase-0' });
  const slider = page.getByRole('slider', { name: 'Ledger' });
  await slider.waitFor();
  const before = Number(await slider.getAttribute('aria-valuemax'));
  const [request] = await app.requests.list({ session: 'chase-0' });
  await app.requests.approve(request?.requestId ?? '', { by: 'operator:ann' });
  await app.resume('chase-0');
  const last = (await app.sessions.list({ id: 'chase-0' })).sessions[0]?.seq ?? 0;
  expect(last).toBeGreaterThan(before);
  await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe(String(last));
  await page.getByText('The reminder to Keller is sent.').first().waitFor();
  // A reader who looks at an earlier event stays there.
  await page.keyboard.press('Home');
  await page.getByText('Back to live').waitFor();
});

test('a session that is deleted meanwhile says so, and what was read stays', async () => {
  const app = await chased();
  const { page } = await opened(app, { path: '/sessions/chase-0?at=40' });
  await page.locator('[data-at="40"]').waitFor();
  await app.sessions.delete('chase-0');
  await page.getByText('This session is not followed any more').waitFor();
  await page.getByText('Keller: 43 days late').first().waitFor();
});
