import {
  agent,
  type Event,
  isDurable,
  memoryStore,
  type NewRequest,
  type OnRequest,
  parallel,
  pending,
  type Runnable,
  type Runtime,
  runtime,
  type Store,
  tool,
} from 'adjutant';
import { replay } from 'adjutant/replay';
import { eventually, keptOpen, roundModel, type TestClock, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../../pay-tool.ts';

const seconds = 1_000;
const approvals = {
  keys: [{ id: 'k', secret: 'k'.repeat(32) }],
  url: 'https://agents.example.com/approve',
};

function payer() {
  const { pay, paid } = payTool();
  const model = roundModel([
    { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
    { text: 'Done' },
  ]);
  return { runnable: agent({ name: 'payer', model, tools: [pay] }), paid };
}

/** An app in a process of its own, with what it was told. */
function process(store: Store, runnable: Runnable, onRequest?: OnRequest, clock?: TestClock) {
  const told: NewRequest[] = [];
  const app = runtime({
    app: 'shop',
    store: keptOpen(store),
    runnables: [runnable],
    approvals,
    onRequest: (news) => {
      told.push(news);
      return onRequest?.(news);
    },
    ...(clock === undefined ? {} : { ports: { clock } }),
  });
  return { app, told };
}

function notes(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'request' && event.decision === 'notify'
      ? [event.data]
      : [],
  );
}

async function ledger(app: Runtime, session: string): Promise<readonly Event[]> {
  return (await app.sessions.get(session)).events;
}

/** Resolves when the ledger says that so many requests were told. */
async function noted(app: Runtime, session: string, count = 1): Promise<void> {
  const events: Event[] = [];
  for await (const event of app.follow(session)) {
    if (isDurable(event)) events.push(event);
    if (notes(events).length === count) return;
  }
}

describe('what waits for a person is told', () => {
  test('with its request, session and tenant, and a link that opens', async () => {
    const { runnable, paid } = payer();
    const { app, told } = process(memoryStore(), runnable);
    const acme = app.tenants.get('acme');
    const { session, pendingApprovals } = await acme.run(runnable, 'Pay');
    await noted(acme, session.id);
    const [news] = told;
    expect(told).toHaveLength(1);
    expect(news).toMatchObject({
      tenant: 'acme',
      session: session.id,
      request: { requestId: pendingApprovals[0]?.requestId, kind: 'approval', status: 'pending' },
    });
    expect(notes(await ledger(acme, session.id))).toEqual([
      { requestId: pendingApprovals[0]?.requestId },
    ]);

    const link = (await news?.link({ decisions: ['approve'] })) ?? '';
    expect(link).toMatch(/^https:\/\/agents\.example\.com\/approve\/adj1\./);
    const token = link.slice(link.lastIndexOf('/') + 1);
    // The home app knows by the token whose it is.
    expect((await app.requests.show(token)).request.requestId).toBe(news?.request.requestId);
    await app.requests.decide(token, { decision: 'approve' });
    await eventually(() => paid.length === 1, { what: 'the payment' });
    await expect(app.tenants.get('other').requests.show(token)).rejects.toMatchObject({
      code: 'approval_token',
      reason: 'unknown_request',
    });
    await app.close();
  });

  test('once, also when other processes look at the session later', async () => {
    const store = memoryStore();
    const { runnable } = payer();
    const first = process(store, runnable);
    const { session } = await first.app.run(runnable, 'Pay');
    await noted(first.app, session.id);
    const before = await ledger(first.app, session.id);
    await first.app.close();

    const second = process(store, runnable);
    expect(await second.app.advance(session.id)).toMatchObject({ status: 'waiting' });
    await second.app.recovery.resumeStopped();
    expect(second.told).toEqual([]);
    expect(await ledger(second.app, session.id)).toEqual(before);
    await second.app.close();
  });

  test('again when it is asked again, and not when another system is awaited', async () => {
    const { pay } = payTool({ approval: { mayDecide: ['user:ann'] } });
    const order = tool({
      name: 'order',
      description: 'Orders',
      schema: z.object({}),
      execute: () => pending({ operationId: 'order-1' }),
    });
    const model = roundModel([
      {
        toolCalls: [
          { name: 'pay', args: { cents: 5 } },
          { name: 'order', args: {} },
        ],
      },
      { text: 'Done' },
    ]);
    const runnable = agent({ name: 'payer', model, tools: [pay, order] });
    const store = memoryStore();
    const { app, told } = process(store, runnable);
    const { session, pendingCalls } = await app.run(runnable, 'Pay');
    expect(pendingCalls.map(({ kind }) => kind).sort()).toEqual(['approval', 'result']);
    await noted(app, session.id);
    // An answer that the app would have refused: another program has posted it.
    const requestId = told[0]?.request.requestId ?? '';
    await store.for({ tenant: 'default', app: 'shop' }).post(session.id, {
      key: 'answer',
      lane: 'input',
      by: 'user:bob',
      at: 0,
      type: 'tool_input',
      settles: requestId,
      data: { requestId, decision: 'approve' },
    });
    await app.advance(session.id);
    await noted(app, session.id, 2);
    expect(told.map(({ request }) => request.kind)).toEqual(['approval', 'approval']);
    expect(told[1]?.request.requestId).not.toBe(requestId);
    await app.close();
  });

  test('and a replay of the run tells nobody', async () => {
    const { runnable } = payer();
    const { app, told } = process(memoryStore(), runnable);
    const { session } = await app.run(runnable, 'Pay');
    await noted(app, session.id);
    await app.requests.approve(told[0]?.request.requestId ?? '');
    await app.resume(session.id);
    const report = await replay(await app.sessions.get(session.id), app);
    expect(report.divergence).toBeUndefined();
    expect(told).toHaveLength(1);
    await app.close();
  });
});

describe('a function that is told', () => {
  test('and fails is called again after ever longer pauses, in whichever process', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const { runnable } = payer();
    const times: number[] = [];
    const failing: OnRequest = () => {
      times.push(clock.now());
      throw new Error('The mail server is away.');
    };
    const first = process(store, runnable, failing, clock);
    const { session } = await first.app.run(runnable, 'Pay');
    await eventually(() => times.length === 3, { clock, what: 'the third call' });
    await first.app.close();
    const [one = 0, two = 0, three = 0] = times;
    expect(two - one).toBeGreaterThanOrEqual(10 * seconds);
    expect(three - two).toBeGreaterThanOrEqual(two - one);
    expect(notes(await ledger(first.app, session.id))).toEqual([]);

    const second = process(store, runnable, undefined, clock);
    clock.advance(60 * seconds);
    await second.app.recovery.resumeStopped();
    await eventually(() => second.told.length === 1, { what: 'the call of another process' });
    await noted(second.app, session.id);
    await second.app.close();
  });

  test('and fails is called again while its run still works', async () => {
    const clock = testClock();
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    const work = tool({
      name: 'work',
      description: 'Takes its time',
      schema: z.object({}),
      timeoutMs: 10_000 * seconds,
      execute: () => slow.then(() => 'worked'),
    });
    const { runnable } = payer();
    const worker = agent({
      name: 'worker',
      model: roundModel([{ toolCalls: [{ name: 'work', args: {} }] }, { text: 'Worked' }]),
      tools: [work],
    });
    const both = parallel({ name: 'both', runnables: [runnable, worker] });
    let calls = 0;
    const { app } = process(
      memoryStore({ clock }),
      both,
      async () => {
        calls++;
        if (calls === 1) throw new Error('The mail server is away.');
      },
      clock,
    );
    const run = app.run(both, { session: 's', input: 'Go' });
    await eventually(() => calls === 2, { clock, what: 'the second call' });
    resolve();
    expect((await run).status).toBe('yielded');
    await noted(app, 's');
    expect(calls).toBe(2);
    await app.close();
  });

  test('and never returns holds up neither the run nor its answer', async () => {
    const { runnable, paid } = payer();
    const { app, told } = process(memoryStore(), runnable, () => new Promise(() => undefined));
    const { session, status } = await app.run(runnable, 'Pay');
    expect(status).toBe('yielded');
    await eventually(() => told.length === 1, { what: 'the call' });
    await app.requests.approve(told[0]?.request.requestId ?? '');
    expect((await app.resume(session.id)).status).toBe('completed');
    expect(paid).toHaveLength(1);
    await app.close();
  });

  test('while another process works on it is called once more than needed at most', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const { runnable } = payer();
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    const first = process(store, runnable, () => slow, clock);
    const { session } = await first.app.run(runnable, 'Pay');
    await eventually(() => first.told.length === 1, { what: 'the call' });
    const second = process(store, runnable, undefined, clock);
    clock.advance(20 * seconds);
    await second.app.recovery.resumeStopped();
    await eventually(() => second.told.length === 1, { what: 'the call of the other' });
    await noted(second.app, session.id);
    resolve();
    expect(await first.app.advance(session.id)).toMatchObject({ status: 'waiting' });
    expect(first.told).toHaveLength(1);
    expect(second.told).toHaveLength(1);
    await Promise.all([first.app.close(), second.app.close()]);
  });
});

test('without an address of the page, a link says what is to be done', async () => {
  const { runnable } = payer();
  const app = runtime({ app: 'shop', runnables: [runnable], approvals: { keys: approvals.keys } });
  const { pendingApprovals } = await app.run(runnable, 'Pay');
  await expect(app.requests.link(pendingApprovals[0]?.requestId ?? '')).rejects.toThrow(
    '`approvals.url` to the runtime, or `publicUrl` to its server',
  );
  app.requests.serveLinksAt('http://127.0.0.1:8787/approve');
  expect(await app.requests.link(pendingApprovals[0]?.requestId ?? '')).toMatch(
    /^http:\/\/127\.0\.0\.1:8787\/approve\/adj1\./,
  );
  await app.close();
});
