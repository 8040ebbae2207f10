import {
  agent,
  agentTool,
  isAdjutantError,
  memoryStore,
  openai,
  runtime,
  type Session,
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
  reject,
  roundModel,
  runTest,
  type TestStep,
  user,
} from 'adjutant/testing';
import { transcript } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { payTool } from '../../pay-tool.ts';
import { answered, asks, clerk, refusalOf, waitingRun } from './waiting-clerk.ts';

function resultsOf(session: Pick<Session, 'events'>): unknown[] {
  return session.events.flatMap((event) =>
    event.type === 'tool_result' && event.settled ? [event.result] : [],
  );
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
    // A call of `resume` joins the recovery, or does it.
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
