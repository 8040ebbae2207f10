import { apiKeys } from '@adjutant/server';
import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

/** Things that can be copied: the page, the button, what stands in the data, acts of others. */
const things = [
  [
    '/sessions/chase-0?at=40',
    'the event',
    { seq: 40, type: 'invocation_end' },
    ['Pause', 'Cancel the run', 'Delete the session'],
  ],
  ['', 'the state', { sessionState: { step: 'look up' } }, []],
  ['', 'the decision #29', { seq: 29, component: 'error_router' }, []],
  ['/sessions/chase-0?at=40&panel=prompt', 'the prompt', { prompt: expect.any(Array) }, []],
  ['/approvals', 'the request', { name: 'sendMail', status: 'pending' }, ['Approve', 'Reject']],
  ['/tasks/:task', 'the task', { name: 'Letter' }, ['Suspend', 'Move to the front', 'New task']],
  ['/triggers/weekly', 'the trigger', { name: 'weekly' }, ['Fire now', 'Disable', 'Delete']],
] as const;

test('a viewer copies things without its key in them, and may change nothing', async () => {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { id } = await app.submit(chase, 'Write.', { name: 'Letter' });
  const { credential } = await apiKeys(app).create({ name: 'vera', roles: ['viewer'] });
  const { page, url, evaluate, problems } = await opened(app, {
    path: '/sessions/chase-0?at=40',
    serve: { auth: {} },
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  });
  await page.getByLabel('API key or token').fill(credential);
  await page.getByRole('button', { name: 'Sign in' }).click();
  for (const [path, what, data, acts] of things) {
    if (path !== '') await page.goto(`${url}${path.replace(':task', id)}`);
    const copied = async (form: string): Promise<string> => {
      await evaluate("navigator.clipboard.writeText('')");
      await page.getByRole('button', { name: `Copy ${what}` }).focus();
      await page.keyboard.press('Enter');
      await page
        .getByRole('menu', { name: `Copy ${what} as` })
        .getByRole('menuitem', { name: form })
        .click();
      const clipboard = () => evaluate<string>('navigator.clipboard.readText()');
      await expect.poll(clipboard).not.toBe('');
      return clipboard();
    };
    expect(JSON.parse(await copied('JSON'))).toMatchObject(data);
    for (const act of acts)
      expect(await page.getByRole('button', { name: act }).first().getAttribute('title')).toMatch(
        /Your role is viewer|Your key is a viewer/,
      );
    const command = await copied('cURL');
    expect(command).not.toContain(credential);
    // The address gives it to those who have a key.
    const [, address = ''] =
      / "Authorization: Bearer \$ADJUTANT_KEY" '(.+)'\n$/.exec(command) ?? [];
    const answer = await fetch(address, { headers: { authorization: `Bearer ${credential}` } });
    expect(answer.status).toBe(200);
  }
  // By keys: Esc closes the menu, and not the drawer behind it.
  await page.getByRole('button', { name: 'Copy the trigger' }).focus();
  await page.keyboard.press('Enter');
  const focused = () => evaluate('document.activeElement.textContent');
  await expect.poll(focused).toBe('Markdown');
  await page.keyboard.press('ArrowUp');
  await expect.poll(focused).toBe('cURL');
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'hidden' });
  expect(await page.getByRole('complementary', { name: 'Trigger weekly' }).count()).toBe(1);
  expect(await evaluate('document.activeElement.ariaLabel')).toBe('Copy the trigger');
  expect(problems.filter((problem) => !problem.includes('401'))).toEqual([]);
});
