import { runtime } from 'adjutant';
import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

test('a session is replayed against the code of today, which does the same', async () => {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { page, problems } = await opened(app, { path: '/sessions/chase-0' });
  await page.getByRole('button', { name: 'Replay against today’s code' }).click();
  await page.getByText('Today’s code does the same.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Today’s code does the same.').waitFor({ state: 'hidden' });
  expect(problems).toEqual([]);
});

test('changed instructions are the first divergence, and one press goes there', async () => {
  const store = await testStore();
  const { app, chase } = office(store);
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { chase: changed } = office(store, { instructions: 'Be quick.' });
  const later = runtime({ app: 'office', runnables: [changed], store });
  const { page } = await opened(later, { path: '/sessions/chase-0?panel=replay' });
  await page.getByText(/^First divergence: #/).waitFor();
  await page.getByRole('button', { name: /^Go to #/ }).click();
  const slider = page.getByRole('slider', { name: 'Ledger' });
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toContain('model_start');
});
