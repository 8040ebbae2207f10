import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';
import { tabTo } from './tab-to.ts';

withChromium();

test('keys alone lead from the scrubber through a fork and its edit to the comparison', async () => {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { page, problems } = await opened(app, { path: '/sessions' });
  await page
    .getByRole('link', { name: /Chase the unpaid/ })
    .first()
    .waitFor();
  const { keyboard } = page;
  await tabTo(page, /Chase the unpaid/);
  await keyboard.press('Enter');
  const slider = page.getByRole('slider', { name: 'Ledger' });
  await slider.waitFor();
  // The strip itself takes keys.
  await tabTo(page, /^Ledger$/);
  await keyboard.press('Home');
  for (let tens = 0; tens < 4; tens++) await keyboard.press('Shift+ArrowRight');
  for (let ones = 0; ones < 3; ones++) await keyboard.press('ArrowRight');
  await page.locator('[aria-label="Panels"][data-at="44"]').waitFor();
  await tabTo(page, /^Fork from #44/);
  await keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await tabTo(page, /^As it is/);
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await tabTo(page, /^State of the session at this event, as JSON/);
  await keyboard.press('Control+a');
  await keyboard.type('{"case":{"status":"closed"},"step":"draft"}');
  await tabTo(page, /^Fork and compare$/);
  await keyboard.press('Enter');
  await page.getByText('First divergence: #45').waitFor();
  await tabTo(page, /^Run B$/);
  await keyboard.press('Enter');
  await page.getByText('Waits for a person').first().waitFor();
  const { sessions } = await app.sessions.list({ limit: 10 });
  const fork = sessions.find(({ id }) => id !== 'chase-0')?.id ?? '';
  await expect
    .poll(async () => (await app.sessions.list({ id: fork })).sessions[0]?.status)
    .toBe('awaiting_input');
  expect(await app.sessions.stateAt(fork)).toMatchObject({
    sessionState: { case: { status: 'closed' } },
  });
  expect(problems).toEqual([]);
});
