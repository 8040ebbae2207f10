import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { agent, memoryStore, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { launchChromium, pictures, type WatchedPage, watchedPage } from './chromium.ts';
import { faintTexts, overflow } from './page-checks.ts';

const phone = {
  javaScriptEnabled: false,
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
} as const;
const longName =
  'a-mailing-list-with-a-name-that-no-screen-is-wide-enough-for@department.of.example.com';

/** A served app with an agent that waits for leave to send a mail and one to pay. */
async function waitingApp() {
  const done: string[] = [];
  const mail = tool({
    name: 'send_mail',
    description: 'Sends a mail',
    schema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
    approval: { summary: ({ args }) => `Send a mail to ${args.to}` },
    execute: ({ args }) => {
      done.push(`mail to ${args.to}`);
      return 'sent';
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: () => done.push('paid'),
  });
  const body =
    'Dear all,\n\nthe office is closed on Monday.\n\n<script>document.title = "taken ' +
    'over"</script>';
  const toolCalls = [
    { name: 'send_mail', args: { to: longName, subject: 'Closed on Monday', body } },
    { name: 'pay', args: { cents: 9_000 } },
  ];
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls }, { text: 'Done.' }]),
    tools: [mail, pay],
  });
  const app = runtime({
    app: 'office',
    store: memoryStore(),
    runnables: [clerk],
    recover: 'manual',
    approvals: { keys: [{ id: '1', secret: 'k'.repeat(32) }] },
  });
  const session = await app.sessions.create({ userId: 'ann' });
  const { pendingApprovals } = await app.run(clerk, { session, input: 'Tell everybody, and pay' });
  const listening = await serve(app, { port: 0 });
  onTestFinished(() => listening.close({ closeApp: true }));
  const link = async (name: string): Promise<string> => {
    const request = pendingApprovals.find((call) => call.name === name);
    const response = await fetch(`${listening.url}/v1/approvals/${request?.requestId}/link`, {
      method: 'POST',
    });
    return ((await response.json()) as { url: string }).url;
  };
  return { app, session: session.id, done, link };
}

/** Finds faults that keep people from reading the page or from using it. */
async function faultsOf(watched: WatchedPage) {
  return {
    faint: await faintTexts(watched),
    overflow: await overflow(watched),
    problems: watched.problems,
  };
}

const noFaults = { faint: [], overflow: 0, problems: [] };

test('people decide on a phone without JavaScript', { timeout: 60_000 }, async ({ skip }) => {
  const { app, session, done, link } = await waitingApp();
  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  for (const colorScheme of ['light', 'dark'] as const) {
    const watched = await watchedPage(browser, { ...phone, colorScheme });
    const { page, requests } = watched;
    const url = await link('send_mail');
    await page.goto(url);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      `Send a mail to ${longName}`,
    );
    expect(await page.title()).toBe('May this be done?');
    const shown = await page.locator('pre').textContent();
    expect(JSON.parse(shown ?? '')).toMatchObject({ subject: 'Closed on Monday' });
    expect(await page.getByRole('button').allTextContents()).toEqual(['Approve', 'Reject']);
    for (const button of await page.getByRole('button').all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    expect(await faultsOf(watched)).toEqual(noFaults);
    await page.screenshot({
      path: join(pictures(), `approval-phone-${colorScheme}.png`),
      fullPage: true,
    });
    // Nothing but the page itself was asked for.
    expect(requests.filter((request) => !request.endsWith('/favicon.ico'))).toEqual([url]);
    await page.context().close();
  }

  const watched = await watchedPage(browser, phone);
  const { page } = watched;
  const url = await link('send_mail');
  await page.goto(url);
  await page.getByLabel('Reason').fill('fine with me');
  await page.getByRole('button', { name: 'Approve' }).click();
  expect(await page.getByRole('status').textContent()).toBe('You approved it.');
  expect(await faultsOf(watched)).toEqual(noFaults);
  await page.screenshot({ path: join(pictures(), 'approval-phone-decided.png') });

  await page.goto(await link('pay'));
  await page.getByRole('button', { name: 'Reject' }).press('Enter');
  expect(await page.getByRole('status').textContent()).toBe('You rejected it.');
  expect((await app.resume(session)).status).toBe('completed');
  expect(done).toEqual([`mail to ${longName}`]);
  const { events } = await app.sessions.open({ id: session });
  expect(
    events
      .filter((event) => event.type === 'tool_input')
      .map(({ decision, reason }) => [decision, reason]),
  ).toEqual([
    ['approve', 'fine with me'],
    ['reject', undefined],
  ]);

  const again = await page.goto(url);
  expect([again?.status(), await page.getByRole('alert').textContent()]).toEqual([
    410,
    'This has been answered',
  ]);
  await page.screenshot({ path: join(pictures(), 'approval-phone-used.png') });
});

test('a page of another site can neither frame the page nor send its form', {
  timeout: 60_000,
}, async ({ skip }) => {
  const { app, link } = await waitingApp();
  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  const url = await link('pay');
  const elsewhere = await browser.newPage();
  await elsewhere.setContent(
    `<iframe src="${url}"></iframe><form method="post" action="${url}"><button ` +
      'name="decision" value="approve">Win</button></form>',
  );
  const frame = elsewhere.frames().find((candidate) => candidate !== elsewhere.mainFrame());
  await frame?.waitForLoadState();
  expect(await frame?.locator('button').count()).toBe(0);
  await elsewhere.getByRole('button', { name: 'Win' }).click();
  await elsewhere.waitForURL(url);
  expect(await elsewhere.getByRole('alert').textContent()).toBe('Nothing was decided');
  expect(await app.requests.listPendingApprovals()).toHaveLength(2);
});
