import { join } from 'node:path';
import { agent, runtime } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pictures } from '../chromium.ts';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

/** For what the page reads by itself, on a loaded machine too. */
const soon = { timeout: 30_000 };

/** Messages that a page reports only when something is wrong. */
function unexpected(problems: readonly string[]): readonly string[] {
  // An app without triggers says so.
  return problems.filter((problem) => !problem.includes('409 (Conflict)'));
}

/** Texts of the figures in the head: "1 waiting". */
async function figures(page: Page): Promise<readonly string[]> {
  return page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').allInnerTexts();
}

async function waitingOffice() {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  return app;
}

test('a creature shows that its agent waits for a person, and leads to the session', async () => {
  const app = await waitingOffice();
  const { page, problems } = await opened(app, { path: '/now' });
  const creature = page.getByRole('region', { name: 'Creatures' }).getByRole('link', {
    name: /^chase\b/,
  });
  await expect.poll(() => creature.innerText(), soon).toContain('for a person');
  expect(await creature.getAttribute('data-state')).toBe('yielding');
  expect(await figures(page)).toEqual(['0 running', '1 waiting', '0 queued', '0 failed today']);
  await page.screenshot({ path: join(pictures(), 'dashboard-now.png') });
  await creature.click();
  await page.waitForURL('**/sessions/chase-0');
  expect(unexpected(problems)).toEqual([]);
});

test('the places of the page are there while it reads', async () => {
  const app = await waitingOffice();
  const { page } = await opened(app, { path: '/health' });
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/v1/sessions?**', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('link', { name: 'Now' }).click();
  await page.getByRole('status', { name: 'Reading the queue' }).locator('span').first().waitFor();
  await page.screenshot({ path: join(pictures(), 'dashboard-now-reading.png') });
  answer();
  await page.getByRole('region', { name: 'Creatures' }).waitFor();
});

test('what begins while the page is open is shown by itself', async () => {
  const { app, chase } = office(await testStore());
  const { page, problems } = await opened(app, { path: '/now' });
  await page.getByText('No sessions yet.').waitFor();
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const atWork = page.getByRole('region', { name: 'At work' });
  await atWork.getByRole('link', { name: /Chase the unpaid invoices/ }).waitFor();
  const decisions = page.getByRole('region', { name: 'Decisions' });
  await expect.poll(() => decisions.getByRole('listitem').count(), soon).toBeGreaterThan(0);
  expect(unexpected(problems)).toEqual([]);
});

test('the queue shows tasks with their levels, and its depth', async () => {
  const clerk = agent({ name: 'clerk', model: roundModel([{ text: 'Done.' }]) });
  const app = runtime({ app: 'queue', runnables: [clerk], store: await testStore() });
  const notBefore = Date.now() + 86_400_000;
  for (const [name, priority] of [
    ['Monthly report', 'high'],
    ['Old exports', 'background'],
  ] as const)
    await app.tasks.submit(clerk, 'Write it.', { name, priority, notBefore });
  const { page, problems } = await opened(app, { path: '/now' });
  const queue = page.getByRole('region', { name: 'Job queue' });
  const rows = queue.getByRole('list', { name: 'Queued tasks' }).getByRole('listitem');
  await expect.poll(() => rows.count(), soon).toBe(2);
  expect(await rows.first().innerText()).toMatch(/Monthly report\s+high/);
  expect(await rows.last().innerText()).toMatch(/Old exports\s+background/);
  expect(await figures(page)).toContain('2 queued');
  expect(unexpected(problems)).toEqual([]);
});

test('an app without triggers is no failure of their page', async () => {
  const clerk = agent({ name: 'clerk', model: roundModel([{ text: 'Done.' }]) });
  const app = runtime({ app: 'plain', runnables: [clerk], store: await testStore() });
  const { page } = await opened(app, { path: '/triggers' });
  await page.getByText('This app has no triggers.').waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  const make = page.getByRole('button', { name: 'New trigger' });
  expect(await make.getAttribute('title')).toBe('This app has no triggers.');
});

test('the reader chooses creatures, which the browser keeps until they are reset', async () => {
  const app = await waitingOffice();
  const { page, problems } = await opened(app, { path: '/now' });
  const ofChase = () =>
    page
      .getByRole('region', { name: 'Creatures' })
      .getByRole('link', { name: /^chase\b/ })
      .locator('[data-creature]');
  await ofChase().waitFor();
  const usual = await ofChase().getAttribute('data-creature');
  const edit = page.getByRole('button', { name: 'Which creature stands for what' });
  await edit.click();
  await page.getByLabel('Creature of chase').selectOption('hawk');
  await page.keyboard.press('Escape');
  await expect.poll(() => ofChase().getAttribute('data-creature'), soon).toBe('hawk');
  await page.reload();
  await expect.poll(() => ofChase().getAttribute('data-creature'), soon).toBe('hawk');
  await edit.click();
  await page.getByRole('button', { name: 'Reset all' }).click();
  await page.keyboard.press('Escape');
  await expect.poll(() => ofChase().getAttribute('data-creature'), soon).toBe(usual);
  expect(unexpected(problems)).toEqual([]);
});

test('the demo says that it is one, and leaves the figures as they are', async () => {
  const app = await waitingOffice();
  const { page, problems } = await opened(app, { path: '/now' });
  await page.getByRole('region', { name: 'Creatures' }).waitFor();
  const before = await figures(page);
  await page.getByRole('button', { name: 'Demo run' }).click();
  await page.getByText('The work in the zones is made up.').waitFor();
  await page.getByText('kernel_classify').waitFor();
  expect(await figures(page)).toEqual(before);
  const creatures = page.getByRole('region', { name: 'Creatures' });
  expect(await creatures.getByText('for a person').count()).toBe(0);
  await page.getByRole('button', { name: 'Stop demo' }).click();
  await creatures.getByText('for a person').first().waitFor();
  expect(await page.getByText('made up').count()).toBe(0);
  expect(unexpected(problems)).toEqual([]);
});

test('a phone shows the page without scrolling sideways', async () => {
  const app = await waitingOffice();
  const { page, evaluate } = await opened(app, {
    path: '/now',
    context: { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
  });
  await page.getByRole('region', { name: 'Creatures' }).waitFor();
  const isWide = `[document.documentElement, document.getElementById('main')].some(
    (element) => element.scrollWidth > element.clientWidth)`;
  expect(await evaluate(isWide)).toBe(false);
  await page.getByRole('button', { name: 'All creatures' }).click();
  expect(await evaluate(isWide)).toBe(false);
  await page.screenshot({ path: join(pictures(), 'dashboard-now-360.png') });
});
