import { memoryStore, type Runtime, type Store } from 'adjutant';
import { approve, edit, meanwhile, model, runTest, type TestStep, user } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { payTool } from '../../pay-tool.ts';
import { answered, asks, clerk, refusalOf, waitingRun } from './waiting-clerk.ts';

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
