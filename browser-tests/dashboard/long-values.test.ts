import { runtime, step } from 'adjutant';
import { expect, test } from 'vitest';
import { pictures } from '../chromium.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

const letters = 'abcdefghij'.repeat(10_000);
const rows = Array.from({ length: 40 }, (_, row) => ({ row, customer: 'Keller' }));

test('a long value of the state is cut, and shown and copied whole', async () => {
  const write = step({
    name: 'write',
    effects: false,
    execute: (ctx) => {
      ctx.state.letters = letters;
      ctx.state.rows = rows;
      ctx.state.short = 'here';
    },
  });
  const app = runtime({ app: 'office', store: await testStore(), runnables: [write] });
  await app.run(write, { session: 's', input: 'Write.' });
  const { page, evaluate } = await opened(app, {
    path: '/sessions/s',
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  });
  const state = page.getByRole('region', { name: 'State', exact: true });
  await state.getByText('here').waitFor();
  const heights =
    'Math.max(...[...document.querySelectorAll("[aria-label=State] dd")].map((one) => one.clientHeight))';
  expect(await evaluate<number>(heights)).toBeLessThan(200);
  await page.screenshot({ path: `${pictures()}/long-values-light-1280.png` });
  await state.getByRole('button', { name: 'Show all, 97.7 KB' }).click();
  const whole = state.getByRole('group', { name: 'Value of letters' });
  await whole.waitFor();
  expect(await whole.textContent()).toBe(letters);
  expect(await evaluate<number>(heights)).toBeLessThan(500);
  await state.getByRole('button', { name: /^Show all/ }).click();
  await state.getByRole('group', { name: 'Value of rows' }).waitFor();
  await page.screenshot({ path: `${pictures()}/long-values-open-light-1280.png` });
  await state.getByRole('button', { name: 'Show less' }).first().click();
  await whole.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Copy the state' }).click();
  await page.getByRole('menuitem', { name: 'JSON' }).click();
  const copied = () => evaluate<string>('navigator.clipboard.readText()');
  await expect.poll(copied).toContain('"short": "here"');
  expect(JSON.parse(await copied())).toMatchObject({ sessionState: { letters, rows } });
});
