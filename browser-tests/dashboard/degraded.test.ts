import { join } from 'node:path';
import { memoryStore, type Store } from 'adjutant';
import { expect, test } from 'vitest';
import { pictures } from '../chromium.ts';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';

withChromium();

/** A store whose disk can be full: it says so, as the store of SQLite does. */
function limitedStore() {
  const store = memoryStore();
  const disk = { isFull: false };
  const pressure = {
    ...{ waiting: 0, hasRoom: async () => !disk.isFull },
    get isFull() {
      return disk.isFull;
    },
  };
  const admin = new Proxy(store.admin, {
    get: (target, name) => (name === 'pressure' ? pressure : Reflect.get(target, name, target)),
  });
  const limited = new Proxy(store, {
    get: (target, name) => (name === 'admin' ? admin : Reflect.get(target, name, target)),
  });
  return { store: limited as Store, disk };
}

test('a full disk is told on each page until there is room: reading goes on', async () => {
  const { store, disk } = limitedStore();
  const { app, chase } = office(store);
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { page } = await opened(app, { path: '/sessions/chase-0' });
  await page.getByText('Keller: 43 days late').first().waitFor();
  disk.isFull = true;
  await page.getByRole('button', { name: 'Pause' }).click();
  // The act is tried again until there is room: the line above the page says why it takes long.
  const note = page.getByText('The disk of the store is full: everything can be read');
  await note.waitFor();
  expect(await page.getByText('Not connected since').count()).toBe(0);
  await page.screenshot({ path: join(pictures(), 'state-disk-full.png') });
  await page.keyboard.press('Home');
  await page.locator('[aria-label="Panels"][data-at="1"]').waitFor();
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(new URL('/health', page.url()).href);
    await page.getByText('Disk full: reads only').waitFor();
    await page.getByText('Refuses some requests').waitFor();
    await note.waitFor();
    await page.screenshot({ path: join(pictures(), `pressure-${scheme}-${width}.png`) });
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(wide).toBeLessThanOrEqual(width);
  }
  disk.isFull = false;
  await note.waitFor({ state: 'hidden' });
});

test('a server without room says so, and is not taken for one that is away', async () => {
  const { app, chase } = office(memoryStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  // Each request but those that watch over the process is refused.
  const { page } = await opened(app, { path: '/now', serve: { limits: { memory: 0.001 } } });
  await page.getByText('more to do than it can hold').first().waitFor();
  expect(await page.getByText('Not connected since').count()).toBe(0);
  await page.screenshot({ path: join(pictures(), 'state-overloaded.png') });
});
