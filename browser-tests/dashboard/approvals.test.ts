import { agent, runtime, sequence, step, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pictures } from '../chromium.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

async function writing() {
  const saved: string[] = [];
  const save = tool({
    name: 'save',
    description: 'Saves a file',
    schema: z.object({ path: z.string() }),
    approval: true,
    execute: ({ args }) => {
      saved.push(args.path);
      return 'saved';
    },
  });
  const call = (path: string) => ({ toolCalls: [{ name: 'save', args: { path } }] });
  const writer = agent({
    name: 'writer',
    tools: [save],
    model: roundModel([call('notes/a.md'), call('notes/b.md'), { text: 'Both are there.' }]),
  });
  const ask = step({
    name: 'ask',
    execute: async (ctx) => {
      ctx.state.title = await ctx.ask('title', { message: 'Which title?', schema: z.string() });
      const form = z.object({ copies: z.int().min(1), note: z.string() });
      ctx.state.print = await ctx.ask('print', { message: 'How many?', schema: form });
    },
  });
  const all = sequence({ name: 'all', runnables: [ask, writer] });
  return {
    app: runtime({ app: 'office', store: await testStore(), runnables: [all] }),
    all,
    saved,
  };
}

test('texts and forms are answered; an approval holds until it is taken back', async () => {
  const { app, all, saved } = await writing();
  await app.run(all, { session: 's', input: 'Write.' });
  app.recovery.start();
  const { page, problems } = await opened(app, { path: '/approvals' });
  const form = page.getByRole('region', { name: 'Arguments' });
  const answer = page.getByRole('button', { name: 'Answer', exact: true });
  await page.getByRole('heading', { name: 'Which title?' }).waitFor();
  await form.getByRole('textbox').fill('Letters <b>of</b> May');
  await answer.click();
  await page.getByRole('link', { name: /How many/ }).click();
  await page.getByRole('heading', { name: 'How many?' }).waitFor();
  // An answer that does not fit the form is not sent.
  await form.getByLabel('copies').fill('0');
  await form.getByLabel('note').fill('Two sides.');
  expect(await answer.getAttribute('title')).toContain('copies');
  await form.getByLabel('copies').fill('2');
  await answer.click();
  await page.getByRole('link', { name: /notes\/a.md/ }).click();
  await page.getByLabel('An approval holds for').selectOption({ label: below });
  await page.screenshot({ path: `${pictures()}/always-light-1280.png` });
  await page.getByRole('button', { name: /^Approve/ }).click();
  await expect.poll(() => saved).toEqual(['notes/a.md', 'notes/b.md']);
  expect(await app.sessions.stateAt('s')).toMatchObject({
    sessionState: { title: 'Letters <b>of</b> May', print: { copies: 2, note: 'Two sides.' } },
  });
  await page.getByRole('button', { name: 'Answered' }).click();
  const standing = page.getByRole('region', { name: 'Approvals that hold in this session' });
  await standing.getByText('every call of save below notes/').waitFor();
  await standing.getByRole('button', { name: 'Take back' }).click();
  const dialog = page.getByRole('dialog', {
    name: 'Take back the approval of every call of save below notes/?',
  });
  await dialog.getByRole('button', { name: 'Take back' }).click();
  await standing.waitFor({ state: 'hidden' });
  expect(problems).toEqual([]);
});

const below = 'this one, and every call of save below notes/ in this session';

async function paying() {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ to: z.string() }),
    approval: { summary: () => 'Pay the invoice?' },
    execute: ({ args }) => {
      paid.push(args.to);
      return 'paid';
    },
  });
  const clerk = agent({
    name: 'clerk',
    tools: [pay],
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { to: 'ann' } }] }, { text: 'Paid.' }]),
  });
  const app = runtime({ app: 'office', store: await testStore(), runnables: [clerk] });
  return { app, clerk, paid };
}

test('the open request stays when it ends elsewhere: keys answer no other one', async () => {
  const { app, clerk, paid } = await paying();
  for (const session of ['first', 'second', 'third'])
    await app.run(clerk, { session, input: `Pay for the ${session}.` });
  const { page, url } = await opened(app, { path: '/approvals' });
  const detail = page.getByRole('region', { name: 'Request', exact: true });
  await detail.getByRole('link', { name: 'Pay for the first.' }).waitFor();
  const { requests } = (await (await fetch(`${url}/v1/approvals`)).json()) as {
    readonly requests: readonly { readonly requestId: string; readonly session: string }[];
  };
  const ofFirst = requests.find(({ session }) => session === 'first')?.requestId ?? '';
  await fetch(`${url}/v1/approvals/${ofFirst}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"decision":"reject"}',
  });
  await detail.getByText(/rejected\.|Rejected/).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('r');
  // Each row says in which session is asked.
  const list = page.getByRole('region', { name: 'Requests' });
  await list.getByRole('link', { name: /Pay for the second\.\s*second/ }).waitFor();
  await list.getByRole('link', { name: /Pay for the third\.\s*third/ }).waitFor();
  await list.getByLabel('Choose all').check();
  await list.getByRole('button', { name: 'Approve 2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve 2 requests?' });
  await page.screenshot({ path: `${pictures()}/approve-several-light-1280.png` });
  expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/Pay the invoice\?\s+Pay for the second\.\s+second/),
    expect.stringMatching(/Pay the invoice\?\s+Pay for the third\.\s+third/),
  ]);
  expect(paid).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve 2' }).click();
  await page.getByText('Approved: 2 requests.').waitFor();
});
