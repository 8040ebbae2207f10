import {
  agent,
  agentTool,
  isAdjutantError,
  type JsonValue,
  memoryStore,
  openai,
  type Runtime,
  runtime,
  type Session,
  type Store,
  type Tool,
  toolResult,
} from 'adjutant';
import { promptOf } from 'adjutant/context';
import {
  advanceTime,
  approve,
  crash,
  edit,
  keptOpen,
  meanwhile,
  model,
  type RunTestOptions,
  reject,
  roundModel,
  runTest,
  type TestStep,
  user,
} from 'adjutant/testing';
import { transcript } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { type PayToolOptions, payTool } from '../../pay-tool.ts';

function resultsOf(session: Pick<Session, 'events'>): unknown[] {
  return session.events.flatMap((event) =>
    event.type === 'tool_result' && event.settled ? [event.result] : [],
  );
}

async function refusalOf(
  promise: Promise<unknown>,
): Promise<{ code: string; data: unknown; message: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isAdjutantError(error)) throw new Error(`It was not refused: ${String(error)}`);
  return { code: error.code, data: error.data, message: error.message };
}

const clerk = (pay: Tool) => agent({ name: 'caller', model: openai('gpt-5'), tools: [pay] });
const asks = (...calls: readonly JsonValue[]): TestStep =>
  model({ toolCalls: calls.map((args) => ({ name: 'pay', args })) });

/** A run that waits for leave to pay 5 cents. */
async function waitingRun(options: PayToolOptions = {}, more: RunTestOptions = {}) {
  const { pay, paid } = payTool(options);
  const { app, session, result } = await runTest(
    clerk(pay),
    [user('Pay'), asks({ cents: 5 })],
    more,
  );
  return { app, session, paid, requestId: result.pendingApprovals[0]?.requestId ?? '' };
}

/** A run that waits for leave to pay 5 cents, gets answers, and comes to its end. */
async function answered(answers: readonly TestStep[], options: PayToolOptions = {}) {
  const { pay, paid } = payTool(options);
  const run = await runTest(clerk(pay), [
    user('Pay'),
    asks({ cents: 5 }),
    ...answers,
    model('Done.'),
  ]);
  return { ...run, paid };
}

describe('pending approvals', () => {
  test('are listed with what people need to decide', async () => {
    const { app, session, requestId } = await waitingRun({}, { session: { userId: 'ann' } });
    const [entry, ...others] = await app.requests.listPendingApprovals({
      tenant: 'default',
      user: 'ann',
    });
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
    expect(await app.requests.listPendingApprovals({ user: 'bob' })).toEqual([]);
    expect(await app.requests.listPendingApprovals({ tenant: 'other' })).toEqual([]);
    expect(await app.requests.listPendingApprovals({ session: session.id })).toHaveLength(1);
    await app.requests.approve(requestId, { by: 'ann' });
    expect(await app.requests.listPendingApprovals()).toEqual([]);
    expect(await app.requests.list({ status: 'answered' })).toMatchObject([
      { requestId, settledBy: 'user:ann' },
    ]);
    expect(await refusalOf(app.requests.list({ state: 'pending' } as object))).toMatchObject({
      code: 'invalid_answer',
    });
  });

  test('are listed in pages, without those whose time is over', async () => {
    const { pay } = payTool();
    const cents = [1, 2, 3].map((n) => ({ cents: n }));
    await runTest(clerk(pay), [
      user('Pay'),
      asks(...cents),
      meanwhile(async ({ app }) => {
        const first = await app.requests.listPendingApprovals({ limit: 2 });
        const second = await app.requests.listPendingApprovals({
          limit: 2,
          after: first[1] as NonNullable<(typeof first)[1]>,
        });
        expect([...first, ...second].map(({ details }) => details)).toHaveLength(3);
        expect(new Set([...first, ...second].map(({ requestId }) => requestId)).size).toBe(3);
      }),
      advanceTime(30 * 60_000 - 1),
      meanwhile(async ({ app, clock }) => {
        expect(await app.requests.listPendingApprovals()).toHaveLength(3);
        clock.advance(1);
        expect(await app.requests.listPendingApprovals()).toEqual([]);
        expect(await app.requests.list()).toHaveLength(3);
      }),
    ]);
  });

  test('show what the tool says of them', async () => {
    const { app } = await waitingRun({
      approval: {
        summary: () => 'Pay five cents',
        details: () => ({ account: 'main' }),
        allowEdit: false,
        mayDecide: ['ann'],
      },
    });
    const [entry] = await app.requests.listPendingApprovals();
    expect(entry).toMatchObject({
      summary: 'Pay five cents',
      details: { account: 'main' },
      options: ['approve', 'reject'],
      mayDecide: ['ann'],
    });
    expect(entry).not.toHaveProperty('inputSchema');
  });
});

describe('a decision', () => {
  test('lets the call be made', async () => {
    const { status, events, paid } = await answered([approve({ by: 'user:ann', reason: 'fine' })]);
    expect(status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
    expect(events.filter(({ type }) => type === 'tool_input')).toMatchObject([
      { decision: 'approve', by: 'user:ann', reason: 'fine' },
    ]);
  });

  test('that refuses is told to the model', async () => {
    const { session, paid } = await answered([reject({ reason: 'too much' })]);
    expect(paid).toEqual([]);
    expect(resultsOf(session)).toMatchObject([
      {
        status: 'error_blocked',
        errorType: 'rejected',
        content: 'User cancelled this action. Reason: too much',
      },
    ]);
  });

  test('with edited arguments: they are prepared, and run once', async () => {
    const prepared: unknown[] = [];
    const prepare = (ctx: { args: unknown }) => {
      prepared.push(ctx.args);
      return { ...(ctx.args as { cents: number }), to: 'shop' };
    };
    const { session, status, result, paid } = await answered(
      [edit({ pay: { cents: 3 } }, { by: 'ann' })],
      { prepare },
    );
    const { toolCalls } = result;
    expect(status).toBe('completed');
    expect(paid).toEqual([{ cents: 3, to: 'shop' }]);
    // The model must not report what it had asked for.
    const lastCall = session.events.findLast(({ type }) => type === 'model_start');
    expect(JSON.stringify(promptOf(session.events, lastCall?.seq ?? 0))).toContain(
      'changed by a person before it was run. It was run with {\\"cents\\":3}',
    );
    expect(toolCalls).toMatchObject([{ args: '{"cents":3}' }]);
    expect(transcript(session.events).find(({ kind }) => kind === 'tool')).toMatchObject({
      args: { cents: 5 },
      editedArgs: { cents: 3 },
    });
    expect(prepared).toEqual([{ cents: 5 }, { cents: 3 }]);
    const yields = session.events.filter((event) => event.type === 'tool_yield');
    expect(yields).toMatchObject([{ args: { cents: 5, to: 'shop' }, generation: 1 }]);
    expect(session.events.filter((event) => event.type === 'tool_input')).toMatchObject([
      { decision: 'edit', input: { cents: 3 } },
    ]);
    expect(resultsOf(session)).toMatchObject([{ status: 'success', content: 'paid 3' }]);
  });

  test('in the process that waits goes on by itself', async () => {
    const { pay, paid } = payTool();
    const runnable = agent({
      name: 'caller',
      model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Done.' }]),
      tools: [pay],
    });
    const app = runtime({
      app: 'approvals',
      store: keptOpen(memoryStore()),
      runnables: [runnable],
    });
    const first = await app.run(runnable, 'Pay');
    await app.requests.approve(first.pendingApprovals[0]?.requestId ?? '');
    // Whoever asks to go on joins recovery, or does it.
    const result = await app.resume(first.session.id).then(
      ({ status }) => status,
      (error: unknown) =>
        isAdjutantError(error, 'no_open_run') ? 'completed' : Promise.reject(error as Error),
    );
    expect(result).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
    await app.close();
  });
});

describe('what is wrong with an answer is said at once, and the request stays pending', () => {
  const wrong: readonly [string, (app: Runtime, requestId: string) => Promise<void>, object][] = [
    [
      'an unknown request',
      (app) => app.requests.approve('req_none'),
      { code: 'request_not_found' },
    ],
    ['no decision', (app, id) => app.requests.answer(id, {}), { code: 'decision_not_offered' }],
    [
      'a decision of another kind',
      (app, id) => app.requests.answer(id, { decision: 'continue' }),
      { code: 'decision_not_offered', data: { options: ['approve', 'edit', 'reject'] } },
    ],
    [
      'what only the runtime decides',
      (app, id) => app.requests.answer(id, { decision: 'expire' }),
      { code: 'decision_not_offered' },
    ],
    [
      'somebody inside',
      (app, id) => app.requests.approve(id, { by: 'runtime' }),
      { code: 'invalid_answer' },
    ],
    [
      'an option that does not exist',
      (app, id) => app.requests.answer(id, { decison: 'approve' } as object),
      { code: 'invalid_answer' },
    ],
    [
      'input that is not asked for',
      (app, id) => app.requests.answer(id, { decision: 'approve', input: 1 }),
      { code: 'input_mismatch' },
    ],
    [
      'an edit without arguments',
      (app, id) => app.requests.answer(id, { decision: 'edit' }),
      { code: 'input_mismatch' },
    ],
    [
      'what is not JSON',
      (app, id) => app.requests.edit(id, { cents: Number.NaN }),
      { code: 'not_json' },
    ],
  ];

  test.each(wrong)('%s', async (_name, answer, expected) => {
    const { app, requestId, session } = await waitingRun();
    const before = session.events.length;
    expect(await refusalOf(answer(app as Runtime, requestId))).toMatchObject(expected);
    expect(await app.requests.listPendingApprovals()).toMatchObject([
      { requestId, status: 'pending' },
    ]);
    const resumed = await app.resume(session.id);
    expect(resumed).toMatchObject({
      status: 'yielded',
      pendingApprovals: [{ requestId, accepted: false }],
    });
    expect(
      resumed.session.events.slice(before).filter(({ type }) => type === 'tool_input'),
    ).toEqual([]);
    await app.requests.approve(requestId);
  });

  test('edited arguments that do not fit, without a word of them', async () => {
    const { app, requestId } = await waitingRun();
    const refusal = await refusalOf(
      app.requests.edit(requestId, { cents: 'sevenhundred', to: 12345 }),
    );
    expect(refusal).toMatchObject({ code: 'input_mismatch' });
    expect(refusal.message).toMatch(/\$\.cents must be a number/);
    expect(JSON.stringify(refusal)).not.toMatch(/sevenhundred|12345/);
  });

  test('an edit where none is allowed', async () => {
    const { app, requestId } = await waitingRun({ approval: { allowEdit: false } });
    expect(await refusalOf(app.requests.edit(requestId, { cents: 1 }))).toMatchObject({
      code: 'decision_not_offered',
    });
  });

  test('somebody who may not decide', async () => {
    const { paid } = await answered(
      [
        meanwhile(async ({ app, pending }) => {
          const requestId = pending[0]?.requestId ?? '';
          expect(await refusalOf(app.requests.approve(requestId, { by: 'bob' }))).toMatchObject({
            code: 'may_not_decide',
            data: { by: 'user:bob' },
          });
          expect(await refusalOf(app.requests.approve(requestId))).toMatchObject({
            code: 'may_not_decide',
          });
        }),
        approve({ by: 'user:ann' }),
      ],
      { approval: { mayDecide: ['ann'] } },
    );
    expect(paid).toHaveLength(1);
  });

  test('an answer that comes second, also the same one again', async () => {
    const { app, requestId } = await waitingRun();
    await app.requests.reject(requestId, { by: 'ann' });
    const late = { code: 'request_settled', data: { status: 'answered', by: 'user:ann' } };
    expect(await refusalOf(app.requests.approve(requestId))).toMatchObject(late);
    expect(await refusalOf(app.requests.reject(requestId, { by: 'ann' }))).toMatchObject(late);
  });

  test('one of several, while the others count', async () => {
    const { pay, paid } = payTool();
    const { status } = await runTest(clerk(pay), [
      user('Pay'),
      asks({ cents: 1 }, { cents: 2 }, { cents: 3 }),
      meanwhile(async ({ app, pending }) => {
        const [one, two, three] = pending.map(({ requestId }) => requestId) as [
          string,
          string,
          string,
        ];
        const outcomes = await app.requests.answerAll([
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
      }),
      // Each call goes on with its own answer; only the model waits for the round.
      meanwhile(({ result }) => {
        expect(result).toMatchObject({
          status: 'yielded',
          pendingApprovals: [{ args: { cents: 2 } }],
        });
        expect(paid).toEqual([{ cents: 3 }]);
      }),
      edit({ pay: { cents: 20 } }),
      model('Done.'),
    ]);
    expect(status).toBe('completed');
    expect(paid).toEqual([{ cents: 3 }, { cents: 20 }]);
  });
});

describe("calls that wait with their round (hold: 'round')", () => {
  test(
    'are made when all questions of the round are answered, also across processes; what ' +
      'needs nobody goes ahead',
    async () => {
      const { pay, paid } = payTool({
        approval: { when: ({ args }) => (args as { cents: number }).cents > 1 },
      });
      const runnable = agent({
        name: 'caller',
        model: openai('gpt-5'),
        tools: [pay],
        hold: 'round',
      });
      const { status } = await runTest(runnable, [
        user('Pay'),
        asks(...[2, 1, 3, 4].map((cents) => ({ cents }))),
        meanwhile(() => expect(paid).toEqual([{ cents: 1 }])),
        approve({ args: { cents: 2 } }),
        crash(),
        reject({ args: { cents: 3 } }),
        crash(),
        meanwhile(({ pending }) => {
          expect(pending).toMatchObject([{ args: { cents: 4 } }]);
          expect(paid).toEqual([{ cents: 1 }]);
        }),
        edit({ pay: { cents: 40 } }),
        model('Done.'),
      ]);
      expect(status).toBe('completed');
      expect(paid).toEqual([{ cents: 1 }, { cents: 2 }, { cents: 40 }]);
    },
  );

  test('are asked for as one of two ways', () => {
    expect(() => agent({ name: 'a', model: openai('gpt-5'), hold: 'all' as 'round' })).toThrow(
      /`hold` must be/,
    );
  });
});

describe('an answer that reached the store unchecked', () => {
  /** Puts an answer into the inbox as nobody who is checked could. */
  const post = (store: Store, data: { decision?: string; input?: unknown }): TestStep =>
    meanwhile(async ({ session, pending }) => {
      const requestId = pending[0]?.requestId ?? '';
      await store.for({ tenant: 'default', app: 'test' }).post(session.id, {
        key: 'raw',
        lane: 'input',
        by: 'user',
        at: 0,
        type: 'tool_input',
        settles: requestId,
        data: { requestId, ...data } as never,
      });
    });
  test.each([
    ['arguments that do not fit', { decision: 'edit', input: { cents: 'x' } }],
    ['a decision that was not offered', { decision: 'succeeded' }],
    ['no decision at all', {}],
    ['a decision that is the runtime’s', { decision: 'expire' }],
  ])('is asked again for %s, and never dropped', async (_name, data) => {
    const store = memoryStore();
    const { pay, paid } = payTool();
    const asked: string[] = [];
    const look = meanwhile(({ pending, result }) => {
      expect(result).toMatchObject({ status: 'yielded' });
      expect(paid).toEqual([]);
      asked.push(...pending.map(({ requestId }) => requestId));
    });
    const run = await runTest(
      clerk(pay),
      [
        user('Pay'),
        asks({ cents: 5 }),
        look,
        post(store, data),
        look,
        meanwhile(async ({ app }) =>
          expect(await app.requests.listPendingApprovals()).toMatchObject([
            { requestId: asked[1] },
          ]),
        ),
        approve(),
        model('Done.'),
      ],
      { store },
    );
    expect(run.status).toBe('completed');
    expect(new Set(asked).size).toBe(2);
    expect(run.events.findLast(({ type }) => type === 'tool_yield')).toMatchObject({
      generation: 2,
    });
    expect(run).toHaveDecision({ component: 'request', decision: 'ask_again' });
    expect(paid).toEqual([{ cents: 5 }]);
  });

  test('is asked again when it is of somebody who may not decide', async () => {
    const store = memoryStore();
    const { pay, paid } = payTool({ approval: { mayDecide: ['ann'] } });
    await runTest(
      clerk(pay),
      [
        user('Pay'),
        asks({ cents: 5 }),
        post(store, { decision: 'approve' }),
        meanwhile(({ pending }) => {
          expect(pending).toMatchObject([{ request: { mayDecide: ['ann'] }, accepted: false }]);
          expect(paid).toEqual([]);
        }),
        approve({ by: 'ann' }),
        model('Done.'),
      ],
      { store },
    );
    expect(paid).toHaveLength(1);
  });
});

describe('agents below agents', () => {
  /** A manager who has a specialist pay. */
  function nested(answer: TestStep) {
    const { pay, paid } = payTool();
    const specialist = agent({ name: 'specialist', model: openai('gpt-5'), tools: [pay] });
    const manager = agent({
      name: 'manager',
      model: openai('gpt-5'),
      tools: [agentTool(specialist)],
    });
    const run = runTest(manager, [
      user('Go'),
      model(
        { toolCalls: [{ name: 'specialist', args: { message: 'Pay it' } }] },
        { agent: 'manager' },
      ),
      model({ toolCalls: [{ name: 'pay', args: { cents: 7 } }] }, { agent: 'specialist' }),
      meanwhile(async ({ app, result, pending }) => {
        expect(result).toMatchObject({
          status: 'yielded',
          pendingApprovals: [{ name: 'pay', request: { agent: 'specialist' } }],
        });
        expect(await app.requests.listPendingApprovals()).toMatchObject([
          { agent: 'specialist', requestId: pending[0]?.requestId },
        ]);
      }),
      crash(),
      answer,
      model('Paid or not.', { agent: 'specialist' }),
      model('Done.', { agent: 'manager' }),
    ]);
    return { run, paid };
  }

  test(
    'ask from below a call, and go on in another process without being ' + 'called twice',
    async () => {
      const { run, paid } = nested(approve());
      const { status, output, session } = await run;
      expect({ status, output }).toEqual({ status: 'completed', output: 'Done.' });
      expect(paid).toEqual([{ cents: 7 }]);
      expect(resultsOf(session)).toMatchObject([{ status: 'success' }, { status: 'success' }]);
    },
  );

  test('a refusal reaches only the agent that asked', async () => {
    const { run, paid } = nested(reject());
    const { status, session } = await run;
    expect(status).toBe('completed');
    expect(paid).toEqual([]);
    expect(resultsOf(session)).toMatchObject([
      toolResult.blocked('User cancelled this action.', { errorType: 'rejected' }),
      { status: 'success' },
    ]);
  });
});
