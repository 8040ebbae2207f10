import { apiKeys } from '@adjutant/server';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

/** Opens a page of an office with a session and two tasks that wait, read with a key. */
async function operated(path: string) {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  await app.sessions.fork('chase-0', { id: 'fork-0', at: 46 });
  const options = { delayMs: 3_600_000 };
  const letter = await app.submit(chase, 'Write.', { name: 'Letter', ...options });
  await app.submit(chase, 'Sum.', { name: 'Sums', ...options });
  const { credential } = await apiKeys(app).create({
    name: 'olga',
    roles: ['operator', 'auditor'],
  });
  const watched = await opened(app, { path, serve: { auth: {} } });
  const { page, url } = watched;
  await page.getByLabel('API key or token').fill(credential);
  await page.getByRole('button', { name: 'Sign in' }).click();
  /** Routes of the acts that the audit log has. */
  const audited = async (): Promise<string[]> => {
    const headers = { authorization: `Bearer ${credential}` };
    const { entries } = (await (await fetch(`${url}/v1/audit`, { headers })).json()) as {
      readonly entries: readonly { readonly route: string; readonly outcome: string }[];
    };
    return entries.map(({ route, outcome }) => `${outcome} ${route}`);
  };
  return { ...watched, app, letter: letter.id, audited };
}

type Operated = Pick<Awaited<ReturnType<typeof operated>>, 'page' | 'url' | 'app' | 'letter'>;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();

/** Presses Undo, and waits until the opposite act is in the audit log. */
async function undone(
  page: Page,
  audited: () => Promise<string[]>,
  said: string,
  ...acts: readonly string[]
): Promise<void> {
  await page.getByText(said).waitFor();
  await button(page, 'Undo').click();
  for (const act of acts) await expect.poll(audited).toContain(`done POST /v1/${act}`);
}

/** Cancels, discards, deletes and erases, each after a question. */
async function confirmed({ page, url, app, letter }: Operated): Promise<void> {
  const confirm = async (title: string, act: string): Promise<void> => {
    const dialog = page.getByRole('dialog', { name: title });
    await dialog.getByRole('button', { name: act }).click();
    await dialog.waitFor({ state: 'hidden' });
  };
  await page.goto(`${url}/tasks/${letter}`);
  const drawer = page.getByRole('complementary', { name: 'Task Letter' });
  await drawer.getByRole('button', { name: 'Cancel' }).click();
  await confirm('Cancel the task “Letter”?', 'Cancel the task');
  await drawer.getByRole('button', { name: 'Discard' }).click();
  await confirm('Take out of the list: “Letter”?', 'Discard');
  await page.goto(`${url}/triggers/weekly`);
  await button(page, 'Change').click();
  const change = page.getByRole('dialog', { name: 'Change “weekly”' });
  await change.getByRole('button', { name: 'Change it' }).click();
  await change.getByText('Nothing is changed.').waitFor();
  await change.getByLabel('Pattern').fill('0 9 * * 2');
  await change.getByRole('button', { name: 'Change it' }).click();
  await page.getByText('Tuesdays at 09:00, Europe/Berlin').first().waitFor();
  await button(page, 'Delete').click();
  // Nothing is done by one who changes their mind.
  await confirm('Delete the trigger “weekly”?', 'Cancel');
  expect((await app.triggers?.get('weekly'))?.status).toBe('paused');
  await button(page, 'Delete').click();
  await confirm('Delete the trigger “weekly”?', 'Delete');
  await page.goto(`${url}/sessions/chase-0`);
  await button(page, 'Cancel the run').click();
  await confirm('Cancel the run of chase-0?', 'Cancel the run');
  await button(page, 'Delete the session').click();
  await page.getByRole('dialog').getByLabel('Erase its forks too').check();
  await confirm('Erase with all forks: the session chase-0?', 'Erase with forks');
  await page.getByText('chase-0 is deleted.').waitFor();
  expect((await app.sessions.list({ id: 'fork-0' })).sessions).toEqual([]);
}

test('acts are taken back by the opposite one; others are asked about by name', async () => {
  const { page, url, app, letter, audited } = await operated('/sessions/chase-0');
  await button(page, 'Pause').click();
  await undone(page, audited, 'Paused at the next step.', 'sessions/{session}/continue');
  await page.goto(`${url}/tasks/${letter}`);
  const drawer = page.getByRole('complementary', { name: 'Task Letter' });
  await drawer.getByRole('button', { name: 'Suspend' }).click();
  await undone(page, audited, '“Letter” is held.', 'tasks/{task}/resume');
  await drawer.getByLabel('Priority').selectOption('high');
  await undone(page, audited, '“Letter” is high now.', 'tasks/{task}/reprioritize');
  await expect
    .poll(() => app.tasks.get(letter))
    .toMatchObject({ state: 'queued', priority: 'normal' });
  await page.goto(`${url}/triggers/weekly`);
  const pause = () => page.getByRole('complementary').getByRole('button', { name: 'Pause' });
  await pause().click();
  await undone(page, audited, '“weekly” is paused.', 'triggers/{trigger}/resume');
  await pause().click();
  await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
  // One that was paused before it was disabled is paused again.
  await button(page, 'Disable').click();
  await undone(page, audited, '“weekly” is disabled.');
  await expect.poll(async () => (await app.triggers?.get('weekly'))?.status).toBe('paused');
  await confirmed({ page, url, app, letter });
});
