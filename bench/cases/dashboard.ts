import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { chromium, type Page } from 'playwright-core';
import { appendLongSession } from '../dashboard/long-session.ts';
import { traced } from '../dashboard/main-thread.ts';
import { Figure } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'packages/dashboard/dist');
const events = 100_000;
const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The dashboard on a session of 100,000 events, in Chromium without a graphics card. */
export const dashboard: Benchmark = {
  name: 'dashboard',
  notes: [
    'A session of 100,000 events on SQLite, in Chromium without a graphics card. Scrubbing ' +
      'includes the 60 ms for which the page waits after the last move. Frames are sixtieths of a second ' +
      'of the main thread, by the tracing of the browser.',
  ],
  run: measured,
};

async function measured(settings: Settings): Promise<readonly Row[]> {
  const path = process.env['CHROMIUM_PATH'] ?? browsers.find((one) => existsSync(one));
  if (path === undefined) {
    console.warn('NOT MEASURED: the dashboard, for want of a Chromium (CHROMIUM_PATH).');
    return [];
  }
  spawnSync(process.execPath, ['scripts/dashboard.ts', 'build'], { cwd: root, stdio: 'inherit' });
  const app = runtime({
    app: 'bench',
    store: sqlite(join(settings.folder, 'dashboard.db')),
    recover: 'manual',
  });
  await appendLongSession(app, 'long', events);
  const server = await serve(app, { port: 0, dashboard: { folder } });
  const browser = await chromium.launch({
    executablePath: path,
    chromiumSandbox: process.getuid?.() !== 0,
  });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    return await rowsOf(page, `${server.url}/sessions/long`, settings.quick);
  } finally {
    await browser.close();
    await server.close();
    await app.close();
  }
}

async function rowsOf(page: Page, address: string, quick: boolean): Promise<readonly Row[]> {
  const contents: number[] = [];
  for (let repetition = 0; repetition < (quick ? 3 : 8); repetition++) {
    await page.goto('about:blank');
    const began = performance.now();
    await page.goto(address, { waitUntil: 'commit' });
    await page.locator('[role=option]').first().waitFor();
    contents.push(performance.now() - began);
  }
  const cold = await scrubs(page, quick ? 10 : 40, (i) => 1 + ((i * 7_919 + 37) % events));
  const warm = await scrubs(page, quick ? 10 : 40, (i) => 50_000 + i * 3);
  const cdp = await page.context().newCDPSession(page);
  const scrolling = await traced(cdp, () => scroll(page));
  const dragging = await traced(cdp, () => drag(page));
  const nodes = await page.evaluate<number>('document.getElementsByTagName("*").length');
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize');
  const row = (
    work: string,
    unit: Row['unit'],
    values: readonly number[],
    limit?: number,
  ): Row => ({
    work,
    unit,
    figures: new Map([[ours, new Figure(values)]]),
    ...(limit === undefined ? {} : { ceiling: { limit, of: 'median' } }),
  });
  const p95 = (values: readonly number[]): number => values[Math.floor(values.length * 0.95)] ?? 0;
  return [
    row('first content of a session of 100,000 events', 'ms', contents, 1_000),
    row('scrub to an event anywhere, cold', 'ms', cold, 250),
    row('scrub to an event beside the last one', 'ms', warm, 100),
    row(
      'work of the main thread in a frame while scrolling, p95',
      'ms',
      [p95(scrolling.frames)],
      16,
    ),
    row('work of the main thread in a frame while dragging, p95', 'ms', [p95(dragging.frames)]),
    row('tasks over 50 ms while scrolling', 'tasks', [scrolling.longTasks], 0),
    row('nodes of the page', 'nodes', [nodes], 1_500),
    row('memory of the page', 'MiB', [heap / 2 ** 20]),
  ];
}

/** Milliseconds from a move until every panel shows the event. */
async function scrubs(
  page: Page,
  count: number,
  seqOf: (i: number) => number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const seq = seqOf(i);
    times.push(
      await page.evaluate<number>(`new Promise((resolve) => {
        const began = performance.now();
        const look = () => document.querySelector('[data-at="${seq}"]') === null
          ? setTimeout(look, 2)
          : resolve(performance.now() - began);
        history.pushState(null, '', location.pathname + '?at=${seq}');
        dispatchEvent(new PopStateEvent('popstate'));
        look();
      })`),
    );
  }
  return times;
}

async function scroll(page: Page): Promise<void> {
  const list = page.getByRole('listbox', { name: 'Events' });
  await list.hover();
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, i % 10 === 9 ? -20_000 : 700);
    await page.waitForTimeout(16);
  }
}

async function drag(page: Page): Promise<void> {
  const box = await page.getByRole('slider', { name: 'Ledger' }).boundingBox();
  if (box === null) return;
  await page.mouse.move(box.x + 20, box.y + 30);
  await page.mouse.down();
  for (let i = 0; i < 80; i++) {
    await page.mouse.move(box.x + 20 + (i / 80) * (box.width - 40), box.y + 30);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
}
