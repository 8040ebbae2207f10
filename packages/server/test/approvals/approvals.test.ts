import { memoryStore } from 'adjutant';
import { testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { heads } from './ledger-heads.ts';
import { bearer, send, tokenAuth, waitingServer } from './paying-app.ts';

describe('the list', () => {
  test('has what waits, in the order in which it was asked for, page by page', async () => {
    const { api, requestIds, session } = await waitingServer({
      payments: [{ cents: 1 }, { cents: 2 }, { cents: 3 }],
    });
    const first = await send(api, 'GET', '/v1/approvals?limit=2');
    expect(first.status).toBe(200);
    expect(first.body.requests).toHaveLength(2);
    expect(first.body.requests[0]).toMatchObject({
      session,
      kind: 'approval',
      agent: 'payer',
      name: 'pay',
      status: 'pending',
    });
    const second = await send(api, 'GET', `/v1/approvals?limit=2&cursor=${first.body.cursor}`);
    expect(second.body.cursor).toBeUndefined();
    const listed = [...first.body.requests, ...second.body.requests].map(
      ({ requestId }) => requestId,
    );
    expect(listed.toSorted()).toEqual(requestIds.toSorted());
  });

  test('of a caller who can reach few of them ends early and says where it goes on', async () => {
    const payments = Array.from({ length: 50 }, (_, index) => ({ cents: index + 1 }));
    const { api } = await waitingServer({ payments, server: tokenAuth });
    const clerk = await bearer({ sub: 'clerk', agents: ['clerk'] });
    let pages = 0;
    let cursor: string | undefined;
    do {
      const path = `/v1/approvals?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`;
      const page = await send(api, 'GET', path, undefined, clerk);
      expect(page.body.requests).toEqual([]);
      cursor = page.body.cursor as string | undefined;
      pages++;
    } while (cursor !== undefined && pages < 10);
    expect(pages).toBe(2);
  });

  test('can be narrowed', async () => {
    const { api, app, session, requestIds, runnable } = await waitingServer({
      payments: [{ cents: 1 }, { cents: 2 }],
      user: 'ann',
    });
    const other = await app.sessions.create({ userId: 'bob' });
    await app.run(runnable, { session: other, input: 'Pay' });
    await send(api, 'POST', `/v1/approvals/${requestIds[0]}`, { decision: 'reject' });
    const count = async (query: string) =>
      (await send(api, 'GET', `/v1/approvals?${query}`)).body.requests.length;
    expect(await count('')).toBe(3);
    expect(await count('status=all')).toBe(4);
    expect(await count('status=answered')).toBe(1);
    expect(await count(`session=${session}`)).toBe(1);
    expect(await count('user=bob')).toBe(2);
    expect(await count('kind=input')).toBe(0);
    expect(await count('kind=approval&user=ann&status=all')).toBe(2);
  });

  test('begins at a time, the requests of that instant among them', async () => {
    const clock = testClock();
    const { api, app, runnable, requestId } = await waitingServer({
      store: memoryStore({ clock }),
      runtime: { ports: { clock } },
    });
    const [first] = (await send(api, 'GET', '/v1/approvals')).body.requests;
    const at = first?.createdAt ?? 0;
    clock.advance(5_000);
    await app.run(runnable, { session: await app.sessions.create(), input: 'Pay' });
    const listed = async (query: string) =>
      (await send(api, 'GET', `/v1/approvals?${query}`)).body.requests.map((one) => one.requestId);
    expect(await listed(`from=${at}`)).toHaveLength(2);
    expect(await listed(`from=${at}`)).toContain(requestId);
    expect(await listed(`from=${at + 1}`)).toHaveLength(1);
    expect(await listed(`from=${at + 1}`)).not.toContain(requestId);
    expect(await listed(`from=${new Date(at + 60_000).toISOString()}`)).toEqual([]);
    // A cursor goes on where its page ended, behind the time.
    const page = await send(api, 'GET', `/v1/approvals?from=${at}&limit=1`);
    expect(await listed(`from=${at}&limit=1&cursor=${page.body.cursor}`)).toHaveLength(1);
  });

  test.each([
    'from=yesterday',
    'kind=wish',
    'status=open',
    'limit=0',
    'limit=1000',
    'limit=x',
    'cursor=nonsense',
    'cursor=',
  ])('refuses %s', async (query) => {
    const { api } = await waitingServer();
    const { status, body } = await send(api, 'GET', `/v1/approvals?${query}`);
    expect([status, ['invalid_request', 'invalid_cursor'].includes(body.code)]).toEqual([
      400,
      true,
    ]);
  });
});

describe('an answer', () => {
  test('lets the call be made, in the name of the caller', async () => {
    const { api, app, requestId, session, paid } = await waitingServer();
    const { status, body } = await send(api, 'POST', `/v1/approvals/${requestId}`, {
      decision: 'approve',
      reason: 'fine',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ requestId, status: 'answered', settledBy: 'operator' });
    expect((await app.resume(session)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
    expect((await send(api, 'GET', `/v1/approvals/${requestId}`)).body).toMatchObject({
      status: 'answered',
    });
  });

  test('can edit the arguments, under two names', async () => {
    const { api, app, requestIds, session, paid } = await waitingServer({
      payments: [{ cents: 1 }, { cents: 2 }],
    });
    await send(api, 'POST', `/v1/approvals/${requestIds[0]}`, {
      decision: 'edit',
      args: { cents: 10 },
    });
    await send(api, 'POST', `/v1/approvals/${requestIds[1]}`, {
      decision: 'edit',
      input: { cents: 20 },
    });
    await app.resume(session);
    expect(paid.toSorted()).toEqual([{ cents: 10 }, { cents: 20 }]);
  });

  test.each([
    ['a decision that is not offered', { decision: 'retry' }, 400, 'decision_not_offered'],
    ['a decision that is none', { decision: 'yes' }, 400, 'invalid_request'],
    ['no decision', {}, 400, 'decision_not_offered'],
    [
      'arguments that do not fit',
      { decision: 'edit', args: { cents: 'many' } },
      400,
      'input_mismatch',
    ],
    ['an edit without arguments', { decision: 'edit' }, 400, 'input_mismatch'],
    [
      'arguments twice',
      { decision: 'edit', args: { cents: 1 }, input: { cents: 1 } },
      400,
      'invalid_request',
    ],
    ['another name', { decision: 'approve', by: 'ann' }, 400, 'invalid_request'],
    [
      'arguments where none are wanted',
      { decision: 'approve', input: { cents: 1 } },
      400,
      'input_mismatch',
    ],
  ])('that has %s is refused, and nothing changes', async (_what, body, status, code) => {
    const { api, app, requestId } = await waitingServer();
    const before = await heads(app);
    expect(await send(api, 'POST', `/v1/approvals/${requestId}`, body)).toMatchObject({
      status,
      body: { code },
    });
    expect(await heads(app)).toEqual(before);
    expect((await send(api, 'GET', `/v1/approvals/${requestId}`)).body.status).toBe('pending');
  });

  test('does not tell what the arguments were that did not fit', async () => {
    const { api, requestId } = await waitingServer();
    const { body } = await send(api, 'POST', `/v1/approvals/${requestId}`, {
      decision: 'edit',
      args: { cents: 'p4ssw0rd' },
    });
    expect(JSON.stringify(body)).not.toContain('p4ssw0rd');
    expect(body.detail).toContain('cents');
  });

  test('deeper than any is refused, not a fault inside', async () => {
    const { api, requestId } = await waitingServer();
    const deep = `{"decision":"edit","args":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const { status } = await send(api, 'POST', `/v1/approvals/${requestId}`, deep);
    expect(status).toBe(400);
  });

  test('to nothing is 404', async () => {
    const { api } = await waitingServer();
    for (const [method, path, body] of [
      ['GET', '/v1/approvals/req_none', undefined],
      ['POST', '/v1/approvals/req_none', { decision: 'approve' }],
      ['POST', '/v1/approvals/req_none/link', {}],
    ] as const) {
      expect(await send(api, method, path, body)).toMatchObject({
        status: 404,
        body: { code: 'request_not_found' },
      });
    }
  });

  test('that comes too late is told so', async () => {
    const clock = testClock();
    const { api, requestId, app } = await waitingServer({
      store: memoryStore({ clock }),
      runtime: { ports: { clock } },
      expiresInMs: 1_000,
    });
    clock.advance(2_000);
    const before = await heads(app);
    expect(
      await send(api, 'POST', `/v1/approvals/${requestId}`, { decision: 'approve' }),
    ).toMatchObject({
      status: 409,
      body: { code: 'request_settled', data: { status: 'expired' } },
    });
    expect(await heads(app)).toEqual(before);
  });
});

test('of two people who answer one wins, and the other is told by whom', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('approve', 'reject', 'edit'), { minLength: 2, maxLength: 5 }),
      async (decisions) => {
        const { api, app, requestId, session, paid } = await waitingServer({ server: tokenAuth });
        const answers = await Promise.all(
          decisions.map(async (decision, index) =>
            send(
              api,
              'POST',
              `/v1/approvals/${requestId}`,
              { decision, ...(decision === 'edit' ? { args: { cents: index } } : {}) },
              await bearer({ sub: `p${index}` }),
            ),
          ),
        );
        const winner = answers.findIndex(({ status }) => status === 200);
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        for (const { status, body } of answers.filter((_answer, index) => index !== winner)) {
          expect([status, body.code]).toEqual([409, 'request_settled']);
        }
        const late = await send(
          api,
          'POST',
          `/v1/approvals/${requestId}`,
          { decision: 'approve' },
          await bearer({ sub: 'late' }),
        );
        expect(late).toMatchObject({
          status: 409,
          body: { code: 'request_settled', data: { by: `operator:p${winner}` } },
        });
        await app.resume(session);
        expect(paid).toEqual(
          decisions[winner] === 'reject'
            ? []
            : [{ cents: decisions[winner] === 'edit' ? winner : 5 }],
        );
      },
    ),
    { numRuns: 20 },
  );
});

describe('several answers', () => {
  test('have an outcome each', async () => {
    const { api, app, requestIds, session, paid } = await waitingServer({
      payments: [{ cents: 1 }, { cents: 2 }, { cents: 3 }],
    });
    const [first = '', second = '', third = ''] = requestIds;
    const { status, body } = await send(api, 'POST', '/v1/approvals', {
      answers: [
        { requestId: first, decision: 'approve' },
        { requestId: 'req_none', decision: 'approve' },
        { requestId: second, decision: 'edit', args: { cents: 'x' } },
        { requestId: third, decision: 'reject', reason: 'too much' },
      ],
    });
    expect(status).toBe(200);
    expect(body.outcomes).toMatchObject([
      { requestId: first, accepted: true },
      {
        requestId: 'req_none',
        accepted: false,
        problem: { status: 404, code: 'request_not_found' },
      },
      { requestId: second, accepted: false, problem: { status: 400, code: 'input_mismatch' } },
      { requestId: third, accepted: true },
    ]);
    await app.resume(session);
    expect(paid).toHaveLength(1);
    expect(
      (await send(api, 'GET', '/v1/approvals')).body.requests.map(({ requestId }) => requestId),
    ).toEqual([second]);
  });

  test('go to what they were given to, whatever their order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), async (order) => {
        const payments = order.map((index) => ({ cents: index, to: `n${index}` }));
        const { api, app, session, paid } = await waitingServer({
          payments: payments.toSorted((left, right) => left.cents - right.cents),
        });
        const { requests } = (await send(api, 'GET', '/v1/approvals')).body;
        const answers = order.map((index) => {
          const requestId = requests.find(({ details }) => details.cents === index)?.requestId;
          return { requestId, decision: 'edit', args: { cents: index + 100, to: `n${index}` } };
        });
        await send(api, 'POST', '/v1/approvals', { answers });
        const { toolCalls } = await app.resume(session);
        expect(
          paid.toSorted((left, right) => JSON.stringify(left).localeCompare(JSON.stringify(right))),
        ).toEqual([0, 1, 2, 3, 4].map((index) => ({ cents: index + 100, to: `n${index}` })));
        // Each result is that of its own call.
        for (const { args } of toolCalls)
          expect(args).toMatch(/"cents":10(\d).*"n\1"|"n(\d)".*"cents":10\2/);
      }),
      { numRuns: 10 },
    );
  });

  test.each([[{ answers: [] }], [{}], [{ answers: [{ decision: 'approve' }] }], [[]], ['no JSON']])(
    'are refused when they are none: %j',
    async (body) => {
      const { api } = await waitingServer();
      expect((await send(api, 'POST', '/v1/approvals', body)).status).toBe(400);
    },
  );

  test('are refused when two of them are to one request', async () => {
    const { api, requestId } = await waitingServer();
    const answers = ['approve', 'reject'].map((decision) => ({ requestId, decision }));
    expect((await send(api, 'POST', '/v1/approvals', { answers })).status).toBe(400);
    expect((await send(api, 'GET', `/v1/approvals/${requestId}`)).body.status).toBe('pending');
  });
});

test('an app of another name on the same store does not have the request', async () => {
  const { requestId, store } = await waitingServer();
  const { api: other } = await waitingServer({ store, runtime: { app: 'other' } });
  expect(
    (await send(other, 'POST', `/v1/approvals/${requestId}`, { decision: 'approve' })).status,
  ).toBe(404);
});
