import { apiKeys, type Role } from '@adjutant/server';
import { expect, test } from 'vitest';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

async function signedIn(roles: readonly Role[]) {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { key, credential } = await apiKeys(app).create({ name: 'reader', roles });
  const page = await opened(app, { path: '/sessions/chase-0', serve: { auth: {} } });
  await page.page.getByLabel('API key or token').fill(credential);
  await page.page.getByRole('button', { name: 'Sign in' }).click();
  await page.page.getByRole('slider', { name: 'Ledger' }).waitFor();
  return { ...page, app, key, credential };
}

test('a key is changed for a cookie: it is in no address and no storage of the page', async () => {
  const { page, credential, requests, evaluate } = await signedIn(['operator']);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
  expect(cookie?.value).not.toContain(credential);
  for (const request of requests) expect(request).not.toContain(credential);
  const stored = await evaluate<string>('JSON.stringify([{...localStorage}, {...sessionStorage}])');
  expect(stored).not.toContain(credential);
  expect(await evaluate('document.documentElement.outerHTML.includes("adj_")')).toBe(false);
  // A reload needs no key again.
  await page.reload();
  await page.getByRole('slider', { name: 'Ledger' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key or token').waitFor();
});

test('a wrong key is refused in one sentence', async () => {
  const { app } = office(await testStore());
  const { page } = await opened(app, { path: '/now', serve: { auth: {} } });
  await page.getByLabel('API key or token').fill('adj_nothing_at_all');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This key is not accepted.').waitFor();
  expect(await page.getByLabel('API key or token').inputValue()).toBe('');
});

test('a revoked key ends the page that signed in with it', async () => {
  const { page, app, key } = await signedIn(['operator']);
  await apiKeys(app).revoke(key.id);
  await page.getByLabel('API key or token').waitFor();
});

test('a viewer sees everything and may change nothing: the page says why', async () => {
  const { page, url } = await signedIn(['viewer']);
  const fork = page.getByRole('button', { name: /^Fork from/ });
  expect(await fork.getAttribute('aria-disabled')).toBe('true');
  expect(await fork.getAttribute('title')).toContain('Your role is viewer');
  await page.keyboard.press('f');
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
  // The server refuses in any case.
  const status = await page.evaluate<number>(
    `fetch('${url}/v1/sessions/chase-0/fork', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    }).then((response) => response.status)`,
  );
  expect(status).toBe(403);
});

const shown = [
  ['operator', false, false],
  ['auditor', false, true],
  ['admin', true, true],
] as const;

test.each(shown)('%s sees the pages of its role', async (role, keys, audit) => {
  const { page } = await signedIn([role]);
  expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(keys ? 1 : 0);
  expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(audit ? 1 : 0);
});

test('a new secret of one’s own key stays until it is stored, though the old one opens nothing more', async () => {
  const { page } = await signedIn(['admin']);
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Rotate reader' }).click();
  await page.getByLabel('The secret of now is accepted for another').selectOption('0');
  const refused = page.waitForResponse(
    (answer) => answer.url().endsWith('/v1/me') && answer.status() === 401,
  );
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await refused;
  const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
  await page.getByRole('button', { name: 'It is stored' }).click();
  await page.getByLabel('API key or token').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Rotate reader' }).waitFor();
});
