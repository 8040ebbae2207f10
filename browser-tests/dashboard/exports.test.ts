import { readFileSync } from 'node:fs';
import { apiKeys } from '@adjutant/server';
import { parseLedgerFile } from 'adjutant/replay';
import type { Download, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pictures } from '../chromium.ts';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

/** Does what saves a file, and returns it. */
async function saved(page: Page, act: () => Promise<void>): Promise<Download> {
  const download = page.waitForEvent('download');
  await act();
  return download;
}

/** Width and height of a picture, as its first bytes say. */
function sizeOf(picture: Buffer): readonly [number, number] {
  return [picture.readUInt32BE(16), picture.readUInt32BE(20)];
}

test('a viewer saves the session without chosen values, and its timeline', async () => {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { credential } = await apiKeys(app).create({ name: 'vera', roles: ['viewer'] });
  const { page, problems } = await opened(app, {
    path: '/sessions/chase-0?at=40&panel=export',
    serve: { auth: {} },
  });
  await page.getByLabel('API key or token').fill(credential);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const dialog = page.getByRole('dialog', { name: 'Export the session chase-0' });
  await dialog.getByLabel('Also take out what stands under these keys').fill('to, no-such-key');
  await page.screenshot({ path: `${pictures()}/export-light-1280.png` });
  const file = await saved(page, () => dialog.getByRole('button', { name: 'Save' }).click());
  expect(file.suggestedFilename()).toBe('chase-0.json');
  const ledger = parseLedgerFile(readFileSync(await file.path(), 'utf8'), 'chase-0.json');
  expect(ledger).toMatchObject({
    session: 'chase-0',
    redaction: { fields: ['to', 'no-such-key'] },
  });
  expect(JSON.stringify(ledger)).not.toContain('keller@example.com');
  expect(ledger.events).toHaveLength((await app.sessions.open({ id: 'chase-0' })).events.length);
  await page.getByText('1 value taken out. Nothing more stood under no-such-key.').waitFor();
  const picture = await saved(page, () =>
    page.getByRole('button', { name: 'Save a picture of the timeline' }).click(),
  );
  expect(picture.suggestedFilename()).toBe('chase-0-timeline.png');
  await picture.saveAs(`${pictures()}/timeline-picture.png`);
  const [width, height] = sizeOf(readFileSync(`${pictures()}/timeline-picture.png`));
  expect(width).toBe(2_916);
  expect(height).toBeGreaterThan(600);
  // A key that is no path is refused in the dialog, which stays.
  await page.getByRole('button', { name: 'Export the session' }).click();
  await dialog.getByLabel('Also take out what stands under these keys').fill('a..b');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(problems.filter((problem) => !/40[01]/.test(problem))).toEqual([]);
});
