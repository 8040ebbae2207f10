import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testPlace } from './places.ts';
import { storeAt } from './stores.ts';

withChromium();

const openFork = '/sessions/chase-0?at=44&panel=fork';

async function visitNow(page: Page) {
  const before = page.url();
  await page.goto(new URL('/now', before).href);
  await page.getByRole('list', { name: 'Sessions' }).getByText('0 running').waitFor();
  await page.goBack();
}

async function chased(place?: string) {
  const { app, chase } = office(storeAt(place ?? (await testPlace())));
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  return app;
}

test('a fork with an edited state is made, run and compared by keys alone', async () => {
  const app = await chased();
  const { page, problems } = await opened(app, { path: '/sessions/chase-0?at=44' });
  await page.locator('[data-at="44"]').waitFor();
  await page.keyboard.press('f');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /As it is/ }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const field = dialog.getByLabel('State of the session at this event, as JSON');
  await field.fill('{"case":{"status":"closed"},"step":"draft","note":"new"}');
  await dialog.getByRole('button', { name: 'Fork and compare' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('First divergence: #45').waitFor();
  const { sessions } = await app.sessions.list({ limit: 10 });
  const fork = sessions.find(({ id }) => id !== 'chase-0')?.id ?? '';
  const edited = (await app.sessions.stateAt(fork)) as unknown as { sessionState: object };
  expect(edited.sessionState).toEqual({ case: { status: 'closed' }, step: 'draft', note: 'new' });
  // The one that it comes from is not touched.
  const before = (await app.sessions.stateAt('chase-0', 44)) as unknown as { sessionState: object };
  expect(before.sessionState).toMatchObject({ case: { status: 'open' } });
  // A fork that nothing has run is no session at work.
  await visitNow(page);
  await page.getByRole('button', { name: 'Run B' }).focus();
  await page.keyboard.press('Enter');
  await expect
    .poll(async () => (await app.sessions.list({ id: fork })).sessions[0]?.status)
    .toBe('awaiting_input');
  await page.getByText('Waits for a person').first().waitFor();
  expect(problems).toEqual([]);
});

test('a fork has another prompt: the edit is an event of it', async () => {
  const app = await chased();
  const { page } = await opened(app, { path: openFork });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /Edit the prompt/ }).check();
  await dialog.getByRole('button', { name: 'Fork and compare' }).click();
  await dialog.getByText('Write instructions or a message, or fork as it is.').waitFor();
  await dialog.getByLabel('Instructions in the place of the agent’s own').fill('Be brief.');
  await dialog.getByRole('button', { name: 'Fork and compare' }).click();
  await page.getByText('First divergence: #45').waitFor();
});

test('before any agent has acted, the one is named whose instructions change', async () => {
  const app = await chased();
  const { page } = await opened(app, { path: '/sessions/chase-0?at=2&panel=fork' });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /Edit the prompt/ }).check();
  await dialog.getByLabel('Instructions in the place of the agent’s own').fill('Be brief.');
  await dialog.getByRole('button', { name: 'Fork and compare' }).click();
  await dialog.getByText('No agent has acted up to here.').waitFor();
  await dialog.getByLabel('Agent whose instructions change').selectOption({ index: 1 });
  await dialog.getByRole('button', { name: 'Fork and compare' }).click();
  await page.getByText('First divergence: #3').waitFor();
});

test('text that is no JSON, and a state without a change, are refused in the dialog', async () => {
  const app = await chased();
  const { page } = await opened(app, { path: openFork });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /Edit the state/ }).check();
  await dialog.getByRole('button', { name: 'Fork and compare' }).click();
  await dialog.getByText('Nothing is changed.').waitFor();
  await dialog.getByLabel('State of the session at this event, as JSON').fill('{"step":');
  await dialog.getByRole('button', { name: 'Fork and compare' }).click();
  await dialog.getByText('This is no JSON').waitFor();
  expect((await app.sessions.list({ limit: 10 })).sessions).toHaveLength(1);
});

test('an approval that is given in the page lets another process go on', async () => {
  const place = await testPlace();
  const app = await chased(place);
  // It works on the sessions of the store; this process only serves the page.
  const worker = spawn(
    process.execPath,
    ['--conditions=adjutant-source', join(import.meta.dirname, 'office-worker.ts'), place],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  onTestFinished(async () => {
    worker.stdin.end();
    await once(worker, 'exit');
  });
  await once(worker.stdout, 'data');
  const { page } = await opened(app, { path: '/approvals' });
  await page
    .getByRole('button', { name: /^Approve/ })
    .first()
    .click();
  await expect
    .poll(async () => (await app.sessions.list({ id: 'chase-0' })).sessions[0]?.status)
    .toBe('completed');
  const events = app.sessions.events('chase-0');
  const resumed: unknown[] = [];
  for await (const event of events) if (event.type === 'invocation_resume') resumed.push(event);
  expect(resumed.length).toBeGreaterThan(0);
});
