import { describe, expect, test } from 'vitest';
import { heads } from './ledger-heads.ts';
import { bearer, send, tokenAuth, waitingServer } from './paying-app.ts';

describe('who may', () => {
  test('answer is who the tool names', async () => {
    const { api, requestId, app } = await waitingServer({
      mayDecide: ['operator:ann'],
      server: tokenAuth,
    });
    const before = await heads(app);
    expect(
      await send(
        api,
        'POST',
        `/v1/approvals/${requestId}`,
        { decision: 'approve' },
        await bearer({ sub: 'bob' }),
      ),
    ).toMatchObject({
      status: 403,
      body: { code: 'may_not_decide' },
    });
    expect(await heads(app)).toEqual(before);
    expect(
      (
        await send(
          api,
          'POST',
          `/v1/approvals/${requestId}`,
          { decision: 'approve' },
          await bearer({ sub: 'ann' }),
        )
      ).status,
    ).toBe(200);
  });

  test('only look cannot answer', async () => {
    const { api, requestId } = await waitingServer({ server: tokenAuth });
    const viewer = await bearer({ sub: 'eve', roles: ['viewer'] });
    expect((await send(api, 'GET', `/v1/approvals/${requestId}`, undefined, viewer)).status).toBe(
      200,
    );
    for (const path of [
      `/v1/approvals/${requestId}`,
      `/v1/approvals/${requestId}/link`,
      '/v1/approvals',
    ]) {
      expect(await send(api, 'POST', path, {}, viewer)).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
    }
  });

  test.each([
    ['of another user', { user: 'bob' }],
    ['of another agent', { agents: ['clerk'] }],
  ])('see requests %s: nobody who is bound to others', async (_what, bound) => {
    const { api, requestId, session, paid, app } = await waitingServer({
      user: 'ann',
      server: tokenAuth,
    });
    const other = await bearer({ sub: 'other', ...bound });
    expect((await send(api, 'GET', '/v1/approvals', undefined, other)).body.requests).toEqual([]);
    expect(
      (await send(api, 'GET', '/v1/approvals?user=ann', undefined, other)).body.requests,
    ).toEqual([]);
    for (const [method, path, body] of [
      ['GET', `/v1/approvals/${requestId}`, undefined],
      ['POST', `/v1/approvals/${requestId}`, { decision: 'approve' }],
      ['POST', `/v1/approvals/${requestId}/link`, {}],
    ] as const) {
      expect(await send(api, method, path, body, other)).toMatchObject({
        status: 404,
        body: { code: 'request_not_found' },
      });
    }
    const { body } = await send(
      api,
      'POST',
      '/v1/approvals',
      { answers: [{ requestId, decision: 'approve' }] },
      other,
    );
    expect(body.outcomes).toMatchObject([
      { accepted: false, problem: { code: 'request_not_found' } },
    ]);
    await app.resume(session);
    expect(paid).toEqual([]);
  });

  test('see their own: whoever is bound to them', async () => {
    const { api, requestId } = await waitingServer({ user: 'ann', server: tokenAuth });
    const own = await bearer({ sub: 'session', user: 'ann', agents: ['payer'] });
    expect((await send(api, 'GET', '/v1/approvals', undefined, own)).body.requests).toHaveLength(1);
    const { body } = await send(
      api,
      'POST',
      `/v1/approvals/${requestId}`,
      { decision: 'approve' },
      own,
    );
    expect(body).toMatchObject({ status: 'answered', settledBy: 'user:ann' });
  });
});
