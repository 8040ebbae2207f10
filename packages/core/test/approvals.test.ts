import {
  type Agent,
  agent,
  agentTool,
  isAdjutantError,
  memoryStore,
  promptOf,
  type Runtime,
  runtime,
  type Session,
  toolResult,
  transcript,
} from 'adjutant';
import { testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { caller, callsOnce, lasting, paying } from './approving.ts';

function resultsOf(session: Pick<Session, 'events'>): unknown[] {
  return session.events.flatMap((event) => (event.type === 'tool_result' && event.settled ? [event.result] : []));
}

async function refusalOf(promise: Promise<unknown>): Promise<{ code: string; data: unknown; message: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isAdjutantError(error)) throw new Error(`It was not refused: ${String(error)}`);
  return { code: error.code, data: error.data, message: error.message };
}

async function waitingRun(options: Parameters<typeof paying>[0] = {}, more: { args?: { cents: number }; userId?: string } = {}) {
  const { pay, paid } = paying(options);
  const runnable = caller(pay, more.args ?? { cents: 5 });
  const app = runtime({ app: 'approvals', store: lasting(), runnables: [runnable], recover: 'manual' });
  const session = await app.session(more.userId === undefined ? {} : { userId: more.userId });
  const first = await app.run(runnable, { session, input: 'Pay' });
  const requestId = first.pendingApprovals[0]?.requestId ?? '';
  return { app, session: session as Session, runnable, paid, requestId, resume: () => app.resume(session.id) };
}

describe('pending approvals', () => {
  test('are listed with what people need to decide', async () => {
    const { app, session, requestId } = await waitingRun({}, { userId: 'ann' });
    const [entry, ...others] = await app.listPendingApprovals({ tenant: 'default', user: 'ann' });
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      requestId,
      session: session.id,
      kind: 'approval',
      agent: 'caller',
      name: 'pay',
      summary: 'pay({"cents":5})',
      details: { cents: 5 },
      options: ['approve', 'edit', 'reject'],
      inputSchema: { type: 'object' },
      user: 'ann',
      status: 'pending',
    });
    expect(entry?.expiresAt).toBeGreaterThan(entry?.createdAt ?? 0);
    expect(await app.listPendingApprovals({ user: 'bob' })).toEqual([]);
    expect(await app.listPendingApprovals({ tenant: 'other' })).toEqual([]);
    expect(await app.listPendingApprovals({ session: session.id })).toHaveLength(1);
    await app.approve(requestId, { by: 'ann' });
    expect(await app.listPendingApprovals()).toEqual([]);
    expect(await app.listRequests({ status: 'answered' })).toMatchObject([{ requestId, settledBy: 'user:ann' }]);
    expect(await refusalOf(app.listRequests({ state: 'pending' } as object))).toMatchObject({ code: 'invalid_answer' });
  });

  test('are listed in pages, without those whose time is over', async () => {
    const clock = testClock();
    const { pay } = paying();
    const runnable = caller(pay, { cents: 1 }, { cents: 2 }, { cents: 3 });
    const app = runtime({ app: 'approvals', store: lasting(memoryStore({ clock })), runnables: [runnable], recover: 'manual', ports: { clock } });
    await app.run(runnable, 'Pay');
    const first = await app.listPendingApprovals({ limit: 2 });
    const second = await app.listPendingApprovals({ limit: 2, after: first[1] as NonNullable<(typeof first)[1]> });
    expect([...first, ...second].map(({ details }) => details)).toHaveLength(3);
    expect(new Set([...first, ...second].map(({ requestId }) => requestId)).size).toBe(3);
    clock.advance(30 * 60_000);
    expect(await app.listPendingApprovals()).toEqual([]);
    expect(await app.listRequests()).toHaveLength(3);
  });

  test('show what the tool says of them', async () => {
    const { app } = await waitingRun({
      approval: { summary: () => 'Pay five cents', details: () => ({ account: 'main' }), allowEdit: false, mayDecide: ['ann'] },
    });
    const [entry] = await app.listPendingApprovals();
    expect(entry).toMatchObject({ summary: 'Pay five cents', details: { account: 'main' }, options: ['approve', 'reject'], mayDecide: ['ann'] });
    expect(entry).not.toHaveProperty('inputSchema');
  });
});

describe('a decision', () => {
  test('lets the call be made', async () => {
    const { app, requestId, paid, resume } = await waitingRun();
    await app.approve(requestId, { by: 'user:ann', reason: 'fine' });
    const result = await resume();
    expect(result.status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
    expect(result.session.events.filter(({ type }) => type === 'tool_input')).toMatchObject([
      { decision: 'approve', by: 'user:ann', reason: 'fine' },
    ]);
  });

  test('that refuses is told to the model', async () => {
    const { app, requestId, paid, resume } = await waitingRun();
    await app.reject(requestId, { reason: 'too much' });
    const { session } = await resume();
    expect(paid).toEqual([]);
    expect(resultsOf(session)).toMatchObject([
      { status: 'error_blocked', errorType: 'rejected', content: 'User cancelled this action. Reason: too much' },
    ]);
  });

  test('with edited arguments: they are prepared, and run once', async () => {
    const prepared: unknown[] = [];
    const { app, requestId, paid, resume } = await waitingRun({
      prepare: (ctx: { args: unknown }) => {
        prepared.push(ctx.args);
        return { ...(ctx.args as { cents: number }), to: 'shop' };
      },
    });
    await app.edit(requestId, { cents: 3 }, { by: 'ann' });
    const { session, status, toolCalls } = await resume();
    expect(status).toBe('completed');
    expect(paid).toEqual([{ cents: 3, to: 'shop' }]);
    // The model must not report what it had asked for.
    const lastCall = session.events.findLast(({ type }) => type === 'model_start');
    expect(JSON.stringify(promptOf(session.events, lastCall?.seq ?? 0))).toContain(
      'changed by a person before it was run. It was run with {\\"cents\\":3}',
    );
    expect(toolCalls).toMatchObject([{ args: '{"cents":3}' }]);
    expect(transcript(session.events).find(({ kind }) => kind === 'tool')).toMatchObject({ args: { cents: 5 }, editedArgs: { cents: 3 } });
    expect(prepared).toEqual([{ cents: 5 }, { cents: 3 }]);
    const yields = session.events.filter((event) => event.type === 'tool_yield');
    expect(yields).toMatchObject([{ args: { cents: 5, to: 'shop' }, generation: 1 }]);
    expect(session.events.filter((event) => event.type === 'tool_input')).toMatchObject([{ decision: 'edit', input: { cents: 3 } }]);
    expect(resultsOf(session)).toMatchObject([{ status: 'success', content: 'paid 3' }]);
  });

  test('in the process that waits goes on by itself', async () => {
    const { pay, paid } = paying();
    const runnable = caller(pay, { cents: 5 });
    const app = runtime({ app: 'approvals', store: lasting(), runnables: [runnable] });
    const first = await app.run(runnable, 'Pay');
    await app.approve(first.pendingApprovals[0]?.requestId ?? '');
    // Whoever asks to go on joins recovery, or does it.
    const result = await app.resume(first.session.id).then(
      ({ status }) => status,
      (error: unknown) => (isAdjutantError(error, 'no_open_run') ? 'completed' : Promise.reject(error as Error)),
    );
    expect(result).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
    await app.close();
  });
});

describe('what is wrong with an answer is said at once, and the request stays pending', () => {
  const wrong: readonly [string, (app: Runtime, requestId: string) => Promise<void>, object][] = [
    ['an unknown request', (app) => app.approve('req_none'), { code: 'request_not_found' }],
    ['no decision', (app, id) => app.answer(id, {}), { code: 'decision_not_offered' }],
    [
      'a decision of another kind',
      (app, id) => app.answer(id, { decision: 'continue' }),
      { code: 'decision_not_offered', data: { options: ['approve', 'edit', 'reject'] } },
    ],
    ['what only the runtime decides', (app, id) => app.answer(id, { decision: 'expire' }), { code: 'decision_not_offered' }],
    ['somebody inside', (app, id) => app.approve(id, { by: 'runtime' }), { code: 'invalid_answer' }],
    ['an option that does not exist', (app, id) => app.answer(id, { decison: 'approve' } as object), { code: 'invalid_answer' }],
    ['input that is not asked for', (app, id) => app.answer(id, { decision: 'approve', input: 1 }), { code: 'input_mismatch' }],
    ['an edit without arguments', (app, id) => app.answer(id, { decision: 'edit' }), { code: 'input_mismatch' }],
    ['what is not JSON', (app, id) => app.edit(id, { cents: Number.NaN }), { code: 'not_json' }],
  ];

  test.each(wrong)('%s', async (_name, answer, expected) => {
    const { app, requestId, session } = await waitingRun();
    const before = session.events.length;
    expect(await refusalOf(answer(app as Runtime, requestId))).toMatchObject(expected);
    expect(await app.listPendingApprovals()).toMatchObject([{ requestId, status: 'pending' }]);
    const resumed = await app.resume(session.id);
    expect(resumed).toMatchObject({ status: 'yielded', pendingApprovals: [{ requestId, accepted: false }] });
    expect(resumed.session.events.slice(before).filter(({ type }) => type === 'tool_input')).toEqual([]);
    await app.approve(requestId);
  });

  test('edited arguments that do not fit, without a word of them', async () => {
    const { app, requestId } = await waitingRun();
    const refusal = await refusalOf(app.edit(requestId, { cents: 'sevenhundred', to: 12345 }));
    expect(refusal).toMatchObject({ code: 'input_mismatch' });
    expect(refusal.message).toMatch(/\$\.cents must be a number/);
    expect(JSON.stringify(refusal)).not.toMatch(/sevenhundred|12345/);
  });

  test('an edit where none is allowed', async () => {
    const { app, requestId } = await waitingRun({ approval: { allowEdit: false } });
    expect(await refusalOf(app.edit(requestId, { cents: 1 }))).toMatchObject({ code: 'decision_not_offered' });
  });

  test('somebody who may not decide', async () => {
    const { app, requestId, paid, resume } = await waitingRun({ approval: { mayDecide: ['ann'] } });
    expect(await refusalOf(app.approve(requestId, { by: 'bob' }))).toMatchObject({ code: 'may_not_decide', data: { by: 'user:bob' } });
    expect(await refusalOf(app.approve(requestId))).toMatchObject({ code: 'may_not_decide' });
    await app.approve(requestId, { by: 'user:ann' });
    await resume();
    expect(paid).toHaveLength(1);
  });

  test('an answer that comes second, also the same one again', async () => {
    const { app, requestId } = await waitingRun();
    await app.reject(requestId, { by: 'ann' });
    const late = { code: 'request_settled', data: { status: 'answered', by: 'user:ann' } };
    expect(await refusalOf(app.approve(requestId))).toMatchObject(late);
    expect(await refusalOf(app.reject(requestId, { by: 'ann' }))).toMatchObject(late);
  });

  test('one of several, while the others count', async () => {
    const { pay, paid } = paying();
    const runnable = caller(pay, { cents: 1 }, { cents: 2 }, { cents: 3 });
    const app = runtime({ app: 'approvals', store: lasting(), runnables: [runnable], recover: 'manual' });
    const first = await app.run(runnable, 'Pay');
    const [one, two, three] = first.pendingApprovals.map(({ requestId }) => requestId) as [string, string, string];
    const outcomes = await app.answerAll([
      { requestId: three, decision: 'approve' },
      { requestId: two, decision: 'edit', input: { cents: 'x' } },
      { requestId: 'req_none', decision: 'approve' },
      { requestId: one, decision: 'reject' },
    ]);
    expect(outcomes).toMatchObject([
      { requestId: three, accepted: true },
      { requestId: two, accepted: false, error: { code: 'input_mismatch' } },
      { requestId: 'req_none', accepted: false, error: { code: 'request_not_found' } },
      { requestId: one, accepted: true },
    ]);
    // Each call goes on with its own answer; only the model waits for the round.
    const second = await app.resume(first.session.id);
    expect(second).toMatchObject({ status: 'yielded', pendingApprovals: [{ requestId: two }] });
    expect(paid).toEqual([{ cents: 3 }]);
    await app.edit(two, { cents: 20 });
    expect((await app.resume(first.session.id)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 3 }, { cents: 20 }]);
  });
});

describe("calls that wait with their round (hold: 'round')", () => {
  test('are made when all questions of the round are answered, also across processes; what needs nobody goes ahead', async () => {
    const { pay, paid } = paying({ approval: { when: ({ args }) => (args as { cents: number }).cents > 1 } });
    const calls = [2, 1, 3, 4].map((cents) => ({ name: 'pay', args: { cents } }));
    const runnable = agent({ name: 'caller', model: callsOnce(...calls), tools: [pay], hold: 'round' });
    const store = lasting();
    const open = () => runtime({ app: 'approvals', store, runnables: [runnable], recover: 'manual' });
    const first = await open().run(runnable, 'Pay');
    expect(paid).toEqual([{ cents: 1 }]);
    const [two, three, four] = first.pendingApprovals.map(({ requestId }) => requestId) as [string, string, string];
    await open().approve(two);
    await open().reject(three);
    const second = await open().resume(first.session.id);
    expect(second).toMatchObject({ status: 'yielded', pendingApprovals: [{ requestId: four }] });
    expect(paid).toEqual([{ cents: 1 }]);
    await open().edit(four, { cents: 40 });
    expect((await open().resume(first.session.id)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 1 }, { cents: 2 }, { cents: 40 }]);
  });

  test('are asked for as one of two ways', () => {
    expect(() => agent({ name: 'a', model: callsOnce(), hold: 'all' as 'round' })).toThrow(/`hold` must be/);
  });
});

describe('an answer that reached the store unchecked', () => {
  async function posted(data: { decision?: string; input?: unknown; requestId?: string }, by: 'user' | 'user:ann' = 'user', mayDecide?: string[]) {
    const store = lasting();
    const { pay, paid } = paying(mayDecide === undefined ? {} : { approval: { mayDecide } });
    const runnable = caller(pay, { cents: 5 });
    const app = runtime({ app: 'approvals', store, runnables: [runnable], recover: 'manual' });
    const first = await app.run(runnable, 'Pay');
    const requestId = first.pendingApprovals[0]?.requestId ?? '';
    const ledgers = store.for({ tenant: 'default', app: 'approvals' });
    await ledgers.post(first.session.id, {
      key: 'raw',
      lane: 'input',
      by,
      at: 0,
      type: 'tool_input',
      settles: requestId,
      data: { requestId, ...data } as never,
    });
    return { app, paid, requestId, second: await app.resume(first.session.id) };
  }

  test.each([
    ['arguments that do not fit', { decision: 'edit', input: { cents: 'x' } }],
    ['a decision that was not offered', { decision: 'succeeded' }],
    ['no decision at all', {}],
    ['a decision that is the runtime’s', { decision: 'expire' }],
  ])('is asked again for %s, and never dropped', async (_name, data) => {
    const { app, paid, requestId, second } = await posted(data);
    expect(second).toMatchObject({ status: 'yielded' });
    const again = second.pendingApprovals[0]?.requestId ?? '';
    expect(again).not.toBe(requestId);
    expect(paid).toEqual([]);
    expect(second.session.events.findLast(({ type }) => type === 'tool_yield')).toMatchObject({ generation: 2 });
    expect(second.session.events.filter(({ type }) => type === 'decision')).toContainEqual(
      expect.objectContaining({ component: 'request', decision: 'ask_again' }),
    );
    expect(await app.listPendingApprovals()).toMatchObject([{ requestId: again }]);
    await app.approve(again);
    expect((await app.resume(second.session.id)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
  });

  test('is asked again when it is of somebody who may not decide', async () => {
    const { app, paid, second } = await posted({ decision: 'approve' }, 'user', ['ann']);
    expect(second).toMatchObject({ status: 'yielded', pendingApprovals: [{ request: { mayDecide: ['ann'] } }] });
    await app.approve(second.pendingApprovals[0]?.requestId ?? '', { by: 'ann' });
    await app.resume(second.session.id);
    expect(paid).toHaveLength(1);
  });
});

describe('agents below agents', () => {
  function nested(pay: ReturnType<typeof paying>['pay']): Agent {
    const specialist = agent({ name: 'specialist', model: callsOnce({ name: 'pay', args: { cents: 7 } }), tools: [pay] });
    return agent({
      name: 'manager',
      model: callsOnce({ name: 'specialist', args: { message: 'Pay it' } }),
      tools: [agentTool(specialist)],
    });
  }

  test('ask from below a call, and go on in another process without being called twice', async () => {
    const store = lasting();
    const { pay, paid } = paying();
    const first = await runtime({ app: 'approvals', store, runnables: [nested(pay)], recover: 'manual' }).run(nested(pay), 'Go');
    expect(first).toMatchObject({ status: 'yielded', pendingApprovals: [{ name: 'pay', request: { agent: 'specialist' } }] });
    const second = runtime({ app: 'approvals', store, runnables: [nested(pay)], recover: 'manual' });
    const [entry] = await second.listPendingApprovals();
    expect(entry).toMatchObject({ agent: 'specialist', requestId: first.pendingApprovals[0]?.requestId });
    await second.approve(entry?.requestId ?? '');
    const result = await second.resume(first.session.id);
    expect(result).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(paid).toEqual([{ cents: 7 }]);
    const results = result.session.events.flatMap((event) => (event.type === 'tool_result' && event.settled ? [event.result.status] : []));
    expect(results).toEqual(['success', 'success']);
  });

  test('a refusal reaches only the agent that asked', async () => {
    const { pay, paid } = paying();
    const app = runtime({ app: 'approvals' });
    const manager = nested(pay);
    const first = await app.run(manager, 'Go');
    await app.reject(first.pendingApprovals[0]?.requestId ?? '');
    const second = await app.resume(first.session);
    expect(second.status).toBe('completed');
    expect(paid).toEqual([]);
    expect(resultsOf(second.session)).toMatchObject([
      toolResult.blocked('User cancelled this action.', { errorType: 'rejected' }),
      { status: 'success' },
    ]);
  });
});
