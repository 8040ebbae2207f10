import { join } from 'node:path';
import {
  agent,
  type Event,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  runtime,
  tool,
  toolResult,
} from 'adjutant';
import { roundModel, testClock } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { launchChromium, pictures, watchedPage } from './chromium.ts';
import { isReady, openChat, say, shown } from './fixtures/served-chat.ts';

const words = ['One, ', 'two, ', 'three, ', 'four, ', 'five.'];

/**
 * A clerk who looks things up, pays when somebody approves, and counts as fast as the clock goes.
 */
function clerkApp() {
  const clock = testClock();
  const paid: number[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks up an order',
    schema: z.object({ order: z.string() }),
    readOnly: true,
    execute: () => ({ cents: 9_000 }),
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: { summary: ({ args }) => `Pay ${args.cents} cents?` },
    execute: ({ args }) => {
      paid.push(args.cents);
      return 'paid';
    },
  });
  const model = roundModel(
    [
      { text: 'I look it up.', toolCalls: [{ name: 'look', args: { order: '17' } }] },
      { toolCalls: [{ name: 'pay', args: { cents: 9_000 } }] },
      { text: 'It is paid.' },
      { toolCalls: [{ name: 'pay', args: { cents: 1 } }] },
      { text: 'I leave it.' },
      { chunks: words, chunkDelayMs: 1_000 },
    ],
    { clock },
  );
  const clerk = agent({ name: 'clerk', model, tools: [look, pay] });
  return { app: runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] }), clock, paid };
}

async function ledger(app: Runtime, session: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of app.sessions.events(session))
    if (event.type !== 'unreadable') events.push(event);
  return events;
}

test('useChat talks with an agent: tools, approvals, a reload in mid-answer', {
  timeout: 120_000,
}, async ({ skip }) => {
  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  const { app, clock, paid } = clerkApp();
  const { watched } = await openChat(browser, app, 'chat-1');
  const { page, problems } = watched;
  await isReady(watched);

  await say(watched, 'Pay for order 17');
  await page.getByText('Pay 9000 cents?').waitFor();
  expect(paid).toEqual([]);
  await page.screenshot({ path: join(pictures(), 'use-chat-approval.png'), fullPage: true });
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('It is paid.').waitFor();
  await isReady(watched);
  const first =
    'I look it up. | tool-look {"order":"17"} output-available {"cents":9000} | tool-pay ' +
    '{"cents":9000} output-available "paid" | It is paid.';
  expect(await shown(watched)).toEqual(['Pay for order 17', first]);
  expect(paid).toEqual([9_000]);

  await say(watched, 'And one cent more');
  await page.getByText('Pay 1 cents?').waitFor();
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('I leave it.').waitFor();
  const left = 'tool-pay {"cents":1} output-denied | I leave it.';
  expect((await shown(watched)).at(-1)).toBe(left);

  await isReady(watched);
  await say(watched, 'Count');
  await page.getByText('One,').waitFor();
  expect((await shown(watched)).at(-1)).toBe('One,');
  clock.advance(1_000);
  await page.getByText('One, two,').waitFor();
  expect((await shown(watched)).at(-1)).toBe('One, two,');
  await page.reload();
  await page.getByText('One, two,').waitFor();
  // Earlier messages are there, and the answer goes on.
  const history = ['Pay for order 17', first, 'And one cent more', left, 'Count'];
  expect(await shown(watched)).toEqual([...history, 'One, two,']);
  expect(await page.locator('output').textContent()).toBe('streaming');
  for (let i = 2; i < words.length; i++) {
    clock.advance(1_000);
    await page
      .getByText(
        words
          .slice(0, i + 1)
          .join('')
          .trim(),
      )
      .waitFor();
  }
  await isReady(watched);
  expect(await shown(watched)).toEqual([...history, 'One, two, three, four, five.']);
  expect(await page.getByRole('alert').count()).toBe(0);
  // A reload aborts the stream of the page before it; and Chromium now and then counts a stream
  // that was read to its end as aborted.
  expect(problems.filter((problem) => !problem.startsWith('failed: '))).toEqual([]);

  const events = await ledger(app, 'chat-1');
  expect(events.flatMap((event) => (event.type === 'user' ? [event.text] : []))).toEqual([
    'Pay for order 17',
    'And one cent more',
    'Count',
  ]);
  expect(
    events.flatMap((event) => (event.type === 'tool_attempt' ? [event.callId.slice(-4)] : [])),
  ).toEqual(['r1.0', 'r2.0']);
  expect(
    events.flatMap((event) =>
      event.type === 'tool_input' ? [[event.decision, event.reason]] : [],
    ),
  ).toEqual([
    ['approve', undefined],
    ['reject', 'too much'],
  ]);
  expect(
    events.flatMap((event) => (event.type === 'invocation_end' ? [event.status] : [])),
  ).toEqual(['completed', 'completed', 'completed']);
  expect(paid).toEqual([9_000]);
});

/** A clerk who pays when somebody else approves, and shows a receipt. */
function payingApp(options: Pick<RuntimeOptions, 'onRequest'> = {}): Runtime {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: { summary: ({ args }) => `Pay ${args.cents} cents?` },
    execute: ({ args }) =>
      toolResult.success('paid', {
        metadata: { ui: { parts: [{ type: 'data-receipt', data: args.cents }] } },
      }),
  });
  const model = roundModel([
    { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
    { text: 'I am here, and it is paid.' },
  ]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const keys = [{ id: 'k', secret: 'k'.repeat(32) }];
  return runtime({
    app: 'shop',
    store: memoryStore(),
    runnables: [clerk],
    approvals: { keys },
    ...options,
  });
}

test('an open page sees an approval by a link, and what was said while it waited', {
  timeout: 120_000,
}, async ({ skip }) => {
  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  const app = payingApp();
  const { watched, listening } = await openChat(browser, app, 'chat-2');
  const { page } = watched;
  await isReady(watched);
  await say(watched, 'Pay me');
  await page.getByText('Pay 5 cents?').waitFor();
  await isReady(watched);
  await say(watched, 'Is anybody there?');
  await page.getByText('data-waiting').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await isReady(watched);

  // Somebody else opens the link and decides.
  const [request] = await app.requests.listPendingApprovals();
  const boss = await watchedPage(browser);
  await boss.page.goto(await listening.link(request?.requestId ?? ''));
  await boss.page.getByRole('button', { name: 'Approve' }).click();
  await boss.page.getByRole('status').waitFor();

  await page.getByText('I am here, and it is paid.').waitFor();
  await isReady(watched);
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.reload();
  await page.getByText('I am here, and it is paid.').waitFor();
  expect(await shown(watched)).toEqual([
    'Pay me',
    'tool-pay {"cents":5} output-available "paid" | data-receipt 5',
    'Is anybody there?',
    'I am here, and it is paid.',
  ]);
});

test('a page sees an answer that others give while it still reads the question', {
  timeout: 120_000,
}, async ({ skip }) => {
  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  const approveAtOnce = async (app: Runtime, requestId: string, session: string) => {
    // The page has the question by now, and its stream is about to end.
    for await (const { type } of app.follow(session)) if (type === 'invocation_yield') break;
    await app.requests.approve(requestId);
  };
  for (let i = 0; i < 3; i++) {
    const app: Runtime = payingApp({
      onRequest: ({ request }) => approveAtOnce(app, request.requestId, request.session),
    });
    const { watched } = await openChat(browser, app, `chat-${i}`);
    await isReady(watched);
    await say(watched, 'Pay me');
    await watched.page.getByText('I am here, and it is paid.').waitFor();
    await isReady(watched);
    expect(await shown(watched)).toEqual([
      'Pay me',
      'tool-pay {"cents":5} output-available "paid" | data-receipt 5 | I am here, and it is paid.',
    ]);
  }
});
