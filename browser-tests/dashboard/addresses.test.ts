import { cron } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

test('escaped names have addresses of their own; a failing page leaves the frame', async () => {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'a%25zz', input: 'Chase the unpaid invoices.' });
  await app.triggers.create({ name: '100% a/b', on: cron('0 8 * * 1'), start: 'writer' });
  const { page, url } = await opened(app, { path: '/sessions/a%25zz' });
  await page.getByText('The session: not there, or not any more.').waitFor();
  await page.goto(`${url}/sessions/a%2525zz`);
  await page.getByRole('slider', { name: 'Ledger' }).waitFor();
  await page.getByRole('link', { name: 'Triggers' }).click();
  await page.getByRole('link', { name: /100% a\/b/ }).click();
  await page
    .getByRole('complementary', { name: 'Trigger 100% a/b' })
    .getByText('0 8 * * 1')
    .first()
    .waitFor();
  expect(new URL(page.url()).pathname).toBe('/triggers/100%25%20a%2Fb');
  await page.route('**/audit-page-*.js', (route) => route.abort());
  await page.goto(`${url}/audit`);
  await page.getByText('This page failed.').waitFor();
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByText('This page failed.').waitFor({ state: 'hidden' });
});
