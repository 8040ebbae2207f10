import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';
import { tabTo } from './tab-to.ts';

withChromium();

const pages = [
  'Now',
  'Sessions',
  'Tasks',
  'Triggers',
  'Agents',
  'Health',
  'Keys',
  'Audit',
] as const;

/** Goes to a page by the palette. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Search and commands' }).waitFor();
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

test('keys alone reach pages, cancel and approve; the focus is drawn, and returns', async () => {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { id } = await app.submit(chase, 'Write.', { name: 'Letter', delayMs: 3_600_000 });
  const { page } = await opened(app, { path: '/now' });
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  for (const name of pages) await goTo(page, name);
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  await tabTo(page, /^Letter/);
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Task Letter' }).waitFor();
  await tabTo(page, /^Cancel$/);
  await page.keyboard.press('Enter');
  const question = page.getByRole('dialog', { name: 'Cancel the task “Letter”?' });
  await question.waitFor();
  // The one who changes their mind is back at the button.
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  expect(await page.evaluate('document.activeElement.innerText')).toBe('Cancel');
  await page.keyboard.press('Enter');
  await tabTo(page, /^Cancel the task$/);
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await app.tasks.get(id)).state).toBe('cancelled');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page
    .getByRole('button', { name: /^Approve/ })
    .first()
    .waitFor();
  await page.keyboard.press('a');
  await expect
    .poll(async () => (await app.requests.list({ session: 'chase-0' }))[0]?.status)
    .toBe('answered');
});
