import { agent, memoryStore, parallel, pending, type Runtime, type RuntimeOptions, runtime, type Session, type Tool, tool } from 'adjutant';
import { eventually, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { caller, callsOnce, lasting, paying } from './approving.ts';

const minutes = 60_000;
const hours = 60 * minutes;

/** A run that waits, on a store that goes by the same clock. */
async function waitingFor(called: Tool, args: object = { cents: 5 }, options: Partial<RuntimeOptions> = {}) {
  const clock = testClock();
  const store = lasting(memoryStore({ clock }));
  const runnable = caller(called, args as never);
  const make = (changed: Tool = called): Runtime =>
    runtime({ app: 'expiry', store, runnables: [caller(changed, args as never)], recover: 'manual', ports: { clock }, ...options });
  const app = make();
  const first = await app.run(runnable, 'Go');
  return { app, make, clock, store, first, session: first.session as Session, requestId: first.pendingCalls[0]?.requestId ?? '' };
}

function settledResults({ events }: Pick<Session, 'events'>): unknown[] {
  return events.flatMap((event) => (event.type === 'tool_result' && event.settled ? [event.result] : []));
}

function decisions({ events }: Pick<Session, 'events'>): string[] {
  return events.flatMap((event) => (event.type === 'decision' && event.component === 'request' ? [event.decision] : []));
}

describe('a request whose time is over', () => {
  test('ends while something else of its run is under way', async () => {
    const clock = testClock();
    const { pay, paid } = paying();
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = tool({ name: 'slow', description: 'Takes its time', schema: z.object({}), timeout: 10 * hours, execute: () => promise });
    const waits = agent({ name: 'waits', model: callsOnce({ name: 'pay', args: { cents: 5 } }), tools: [pay] });
    const works = agent({ name: 'works', model: callsOnce({ name: 'slow', args: {} }), tools: [slow] });
    const app = runtime({ app: 'expiry', store: memoryStore({ clock }), recover: 'manual', ports: { clock } });
    const session = (await app.session()) as Session;
    const run = app.run(parallel({ name: 'both', runnables: [waits, works] }), { session, input: 'Go', timeout: 10 * hours });
    const attempted = (): boolean => session.events.some(({ type }) => type === 'tool_attempt');
    await eventually(() => attempted() && session.events.some(({ type }) => type === 'tool_yield'));
    clock.advance(30 * minutes);
    await eventually(() => session.events.some((event) => event.type === 'assistant' && event.agent === 'waits'), {
      what: 'the end of the branch that waited',
    });
    expect(settledResults(session)).toMatchObject([{ status: 'error_blocked', errorType: 'expired' }]);
    resolve('ready');
    expect((await run).status).toBe('completed');
    expect(paid).toEqual([]);
    expect(await app.listRequests()).toMatchObject([{ status: 'expired', settledBy: 'runtime' }]);
  });

  test('ends by itself when nobody works on the session', async () => {
    const clock = testClock();
    const { pay } = paying();
    const runnable = caller(pay, { cents: 5 });
    const app = runtime({ app: 'expiry', store: memoryStore({ clock }), runnables: [runnable], ports: { clock } });
    const { session } = await app.run(runnable, 'Go');
    expect(session.status).toBe('awaiting_input');
    clock.advance(30 * minutes);
    await eventually(() => session.status === 'completed', { what: 'the end of the run' });
    expect(settledResults(session)).toMatchObject([{ errorType: 'expired' }]);
    await app.close();
  });

  test('goes to others, who may then decide', async () => {
    const { pay, paid } = paying({ approval: { mayDecide: ['ann'], onExpire: 'escalate', escalateTo: ['boss'], expiresIn: hours } });
    const { app, clock, session, requestId } = await waitingFor(pay);
    clock.advance(hours);
    const second = await app.resume(session);
    const [escalated] = second.pendingApprovals;
    expect(escalated).toMatchObject({ request: { mayDecide: ['boss'], onExpire: 'reject' }, expiresAt: clock.now() + hours });
    expect(escalated?.requestId).not.toBe(requestId);
    expect(await app.listRequests()).toMatchObject([{ status: 'escalated' }, { status: 'pending', mayDecide: ['boss'] }]);
    expect(decisions(session)).toEqual(['escalate']);
    await expect(app.approve(escalated?.requestId ?? '', { by: 'ann' })).rejects.toMatchObject({ code: 'may_not_decide' });
    await app.approve(escalated?.requestId ?? '', { by: 'boss' });
    expect((await app.resume(session)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
  });

  test('ends when those to whom it went do not answer either', async () => {
    const { pay, paid } = paying({ approval: { onExpire: 'escalate', escalateTo: ['boss'], expiresIn: hours } });
    const { app, clock, session } = await waitingFor(pay);
    clock.advance(hours);
    await app.resume(session);
    clock.advance(hours);
    expect((await app.resume(session)).status).toBe('completed');
    expect(settledResults(session)).toMatchObject([{ errorType: 'expired' }]);
    expect(paid).toEqual([]);
  });

  test.each([
    ['approve', [{ cents: 5 }]],
    ['reject', []],
  ])('is answered with its default: %s', async (given, expected) => {
    const { pay, paid } = paying({ approval: { onExpire: { default: given } } });
    const { app, clock, session } = await waitingFor(pay);
    clock.advance(30 * minutes);
    expect((await app.resume(session)).status).toBe('completed');
    expect(paid).toEqual(expected);
  });

  test('gives a tool its default input; one that does not fit ends the call', async () => {
    const asking = (given: object): Tool =>
      tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        yieldSchema: z.object({ colour: z.string() }),
        yieldOptions: { expiresIn: hours, onExpire: { default: given as never } },
      }) as Tool;
    const fitting = await waitingFor(asking({ colour: 'grey' }), {});
    fitting.clock.advance(hours);
    await fitting.app.resume(fitting.session);
    expect(settledResults(fitting.session)).toMatchObject([{ status: 'success', content: { colour: 'grey' } }]);
    const unfitting = await waitingFor(asking({ color: 1 }), {});
    unfitting.clock.advance(hours);
    expect((await unfitting.app.resume(unfitting.session)).status).toBe('completed');
    expect(settledResults(unfitting.session)).toMatchObject([{ status: 'error_blocked', errorType: 'expired' }]);
  });

  test('leaves the outcome of an operation open', async () => {
    const begin = tool({
      name: 'begin',
      description: 'Begins',
      schema: z.object({}),
      execute: () => pending({ operationId: 'op-1', expiresIn: hours }),
    });
    const { app, clock, session } = await waitingFor(begin as Tool, {});
    clock.advance(hours);
    await expect(app.settleOperation('op-1', 'late')).rejects.toMatchObject({ code: 'request_settled', data: { status: 'expired' } });
    expect((await app.resume(session)).status).toBe('completed');
    expect(settledResults(session)).toMatchObject([{ status: 'unknown', errorType: 'expired' }]);
  });
});

test('a fork asks anew what the original waits for, also when its time there is over', async () => {
  const { pay, paid } = paying();
  const { app, clock, session, requestId } = await waitingFor(pay);
  const fork = await app.fork(session.id);
  clock.advance(hours);
  const waiting = await app.resume(fork);
  const [own] = waiting.pendingApprovals;
  expect(waiting.status).toBe('yielded');
  expect(own?.expiresAt).toBe(clock.now() + 30 * minutes);
  expect(own?.requestId).not.toBe(requestId);
  await app.approve(own?.requestId ?? '');
  expect((await app.resume(fork)).status).toBe('completed');
  expect(paid).toHaveLength(1);
  // The original has its own end.
  expect((await app.resume(session)).status).toBe('completed');
  expect(settledResults(session)).toMatchObject([{ errorType: 'expired' }]);
  expect(paid).toHaveLength(1);
});

test('an approval default must be a decision', () => {
  expect(() => paying({ approval: { onExpire: { default: { yes: true } } } })).toThrow(/'approve'/);
});

describe('an approval that was not used in time', () => {
  test('is asked again', async () => {
    const { pay, paid } = paying({ approval: { expiresIn: 100 * hours } });
    const { app, clock, session, requestId } = await waitingFor(pay);
    await app.approve(requestId);
    // The worker slept for three days with the answer in the inbox.
    clock.advance(72 * hours);
    const second = await app.resume(session);
    expect(second).toMatchObject({ status: 'yielded', pendingApprovals: [{ kind: 'approval' }] });
    expect(paid).toEqual([]);
    expect(decisions(session)).toEqual(['ask_again']);
    await app.approve(second.pendingApprovals[0]?.requestId ?? '');
    clock.advance(23 * hours);
    expect((await app.resume(session)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
  });

  test('is asked again after the time that the tool says', async () => {
    const { pay, paid } = paying({ approval: { useWithin: 1_000 } });
    const { app, clock, session, requestId } = await waitingFor(pay);
    await app.approve(requestId);
    clock.advance(1_001);
    expect((await app.resume(session)).status).toBe('yielded');
    expect(paid).toEqual([]);
  });
});

describe('a tool that has changed', () => {
  const changes: readonly [string, Parameters<typeof paying>[0]][] = [
    ['another version', { version: '2' }],
    ['another schema', { schema: z.object({ cents: z.number(), currency: z.string().default('EUR') }) as never }],
  ];

  test.each(changes)('while it waited (%s): it is asked anew', async (_name, change) => {
    const { pay, paid } = paying();
    const changed = paying(change);
    const { make, store, session, requestId } = await waitingFor(pay);
    const second = await make(changed.pay).resume(session.id);
    expect(second.status).toBe('yielded');
    const again = second.pendingApprovals[0]?.requestId ?? '';
    expect(again).not.toBe(requestId);
    expect(decisions(second.session)).toEqual(['withdraw']);
    const rows = await store.for({ tenant: 'default', app: 'expiry' }).requests();
    expect(Object.fromEntries(rows.map((row) => [row.requestId, row.status]))).toEqual({ [requestId]: 'expired', [again]: 'pending' });
    const third = make(changed.pay);
    await expect(third.approve(requestId)).rejects.toMatchObject({ code: 'request_settled' });
    await third.approve(again);
    expect((await third.resume(session.id)).status).toBe('completed');
    expect([paid.length, changed.paid.length]).toEqual([0, 1]);
  });

  test.each(changes)('after it was approved (%s): it is not run, but asked again', async (_name, change) => {
    const { pay, paid } = paying();
    const changed = paying(change);
    const { app, make, session, requestId } = await waitingFor(pay);
    await app.approve(requestId);
    const second = await make(changed.pay).resume(session.id);
    expect(second.status).toBe('yielded');
    expect([...paid, ...changed.paid]).toEqual([]);
    expect(decisions(second.session)).toContain('ask_again');
    const third = make(changed.pay);
    await third.approve(second.pendingApprovals[0]?.requestId ?? '');
    expect((await third.resume(session.id)).status).toBe('completed');
    expect([paid.length, changed.paid.length]).toEqual([0, 1]);
  });
});
