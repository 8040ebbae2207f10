import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { apiKeys } from '@adjutant/server';
import type { Event } from 'adjutant';
import { expect, onTestFinished, test } from 'vitest';
import { pictures } from '../chromium.ts';
import { office } from './office.ts';
import { opened, served, visit, withChromium } from './opened.ts';
import { testPlace, testStore } from './places.ts';
import { storeAt } from './stores.ts';

withChromium();

interface StartedServer {
  readonly url: string;
  readonly end: () => Promise<void>;
}

/** Starts a server on the store of a place, at a port. */
type StartServer = (place: string, port?: number) => Promise<StartedServer>;

/** Serves in this process, and ends in good order. */
const stopped: StartServer = async (place, port = 0) => {
  const { app } = office(storeAt(place));
  const server = await served(app, { port });
  return { url: server.url, end: () => server.close() };
};

/** Serves in a process of its own, which is killed. */
const killed: StartServer = async (place, port = 0) => {
  const program = join(import.meta.dirname, 'office-server.ts');
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=adjutant-source', program, place, String(port)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(end);
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return { url: String(line).trim(), end };
};

const ends = [
  ['stopped', stopped] as const,
  ...(process.env['DASHBOARD_LONG'] === '1' ? [['killed', killed] as const] : []),
];

test.each(ends)(
  'a server that is %s is told, and all is live once it is back',
  async (_, start) => {
    const place = await testPlace();
    const { app, chase } = office(storeAt(place));
    onTestFinished(() => app.close());
    await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
    const first = await start(place);
    const { page } = await visit(first, '/sessions/chase-0');
    const { page: list } = await visit(first, '/sessions');
    const slider = page.getByRole('slider', { name: 'Ledger' });
    const link = list.getByRole('link', { name: /Chase the unpaid/ }).first();
    await page.getByText('Keller: 43 days late').first().waitFor();
    await link.waitFor();
    await first.end();
    for (const one of [page, list]) await one.getByText('Not connected since').waitFor();
    await page.screenshot({ path: join(pictures(), 'state-server-away.png') });
    // Everything that was read stays.
    await page.getByText('Keller: 43 days late').first().waitFor();
    await link.waitFor();
    // Nothing changes by trying too early.
    await list.getByRole('button', { name: 'Try now' }).click();
    await list.getByText('Not connected since').waitFor();
    const live = page.getByRole('button', { name: 'Live' }).locator('[data-on]');
    await expect.poll(() => live.count()).toBe(0);
    const [request] = await app.requests.list({ session: 'chase-0' });
    await app.requests.approve(request?.requestId ?? '', { by: 'operator:ann' });
    await app.resume('chase-0');
    await app.run(chase, { session: 'chase-1', input: 'Another one.' });
    await start(place, Number(new URL(first.url).port));
    await list
      .getByRole('link', { name: /Another one/ })
      .first()
      .waitFor();
    await page.getByText('The reminder to Keller is sent.').first().waitFor();
    await expect.poll(() => live.count()).toBe(1);
    const last = (await app.sessions.list({ id: 'chase-0' })).sessions[0]?.seq ?? 0;
    await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe(String(last));
    for (const one of [page, list])
      await one.getByText('Not connected since').waitFor({ state: 'hidden' });
  },
);

const otherStores = [
  ['without the session', []],
  ['with another one of its name', ['chase-0']],
] as const;

test.each(otherStores)('another store %s is told once it answers', async (_, sessions) => {
  const [place, otherPlace] = [await testPlace(), await testPlace()];
  for (const [where, made] of [
    [place, ['chase-0']],
    [otherPlace, sessions],
  ] as const) {
    const { app, chase } = office(storeAt(where));
    onTestFinished(() => app.close());
    for (const session of made)
      await app.run(chase, { session, input: `Chase the invoices of ${made.length}.` });
  }
  const first = await stopped(place);
  const { page } = await visit(first, '/sessions/chase-0');
  await page.getByText('Keller: 43 days late').first().waitFor();
  await first.end();
  await page.getByText('Not connected since').waitFor();
  await stopped(otherPlace, Number(new URL(first.url).port));
  const told = page.getByRole('alert').filter({ hasText: 'is not followed any more' });
  await told.getByText('answers').waitFor();
  await page.screenshot({ path: join(pictures(), `state-other-store-${sessions.length}.png`) });
  // What was read stays, and nothing of it is live.
  await page.getByText('Keller: 43 days late').first().waitFor();
  const live = page.getByRole('button', { name: 'Live' }).locator('[data-on]');
  expect(await live.count()).toBe(0);
  await told.getByRole('link', { name: 'All sessions' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
});

test('pages that a role may not see say which permission they take', async () => {
  const { app } = office(await testStore());
  const { credential } = await apiKeys(app).create({ name: 'reader', roles: ['viewer'] });
  const { page, url, problems } = await opened(app, { path: '/keys', serve: { auth: {} } });
  await page.getByLabel('API key or token').fill(credential);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Keys are for administrators.').waitFor();
  await page.getByText('This takes the permission “manage”.').first().waitFor();
  await page.goto(`${url}/audit`);
  await page.getByText('The audit log is for auditors.').waitFor();
  await page.getByText('This takes the permission “audit”.').waitFor();
  // Nothing is asked for that would be refused, but for the question who reads the page.
  expect(problems.filter((problem) => problem.includes('403'))).toEqual([]);
});

test('an event of an unknown version is shown as one; the state after it says why it is not', async () => {
  const store = await testStore();
  const { app, chase } = office(store);
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const ledgers = store.for({ tenant: app.tenant, app: app.app });
  const { seq, epoch } = await ledgers.claim('chase-0', 'later', { ttlMs: 60_000, force: true });
  const later = {
    v: 99,
    seq: seq + 1,
    id: 'later1',
    at: Date.now(),
    type: 'decision',
    by: 'runtime',
  };
  await ledgers.append('chase-0', { seq, epoch }, { events: [later as unknown as Event] });
  const { page } = await opened(app, { path: `/sessions/chase-0?at=${seq + 1}` });
  const state = page.getByRole('region', { name: 'State at the chosen event' });
  await state.getByText('cannot be read by this version').first().waitFor();
  await state.getByText('The state after an event that cannot be read is not known.').waitFor();
  await page.screenshot({ path: join(pictures(), 'state-unknown-version.png') });
  await state.getByRole('button', { name: `Go to #${seq}` }).click();
  await page.locator(`[data-at="${seq}"]`).waitFor();
  // The page follows the session all the same.
  expect(await page.getByText('is not followed any more').count()).toBe(0);
});

const links = [
  ['/sessions/nowhere', 'The session: not there, or not any more.'],
  ['/approvals/nowhere', 'not there'],
  ['/tasks/nowhere', 'not there'],
  ['/agents/nowhere', 'There is no agent with this name.'],
  ['/compare?a=nowhere&b=chase-0', 'not there'],
  ['/sessions/chase-0?at=0', 'The address names no event'],
  ['/sessions/chase-0?at=abc', 'The address names no event'],
  ['/compare?a=chase-0&b=chase-0', 'Both sides are the same session.'],
] as const;

test('a link to a thing that is not there says so', async () => {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  const { page, url } = await opened(app, { path: '/now' });
  for (const [path, words] of links) {
    await page.goto(`${url}${path}`);
    await page.getByText(words).first().waitFor();
  }
});
