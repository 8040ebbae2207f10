import { type Agent, agent, memoryStore, runtime, tool } from 'adjutant';
import { roundModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { serve, server } from '../../src/index.ts';
import { decide, linked, open, refusals } from './opened-page.ts';
import { bearer, linkKey, send, tokenAuth, waitingServer } from './paying-app.ts';

describe('a link that is', () => {
  const cut = (token: string): string => token.slice(0, -3);
  const forge = (token: string): string => {
    const [version, , mac] = token.split('.');
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    payload[4] = ['approve', 'edit'];
    return [version, Buffer.from(JSON.stringify(payload)).toString('base64url'), mac].join('.');
  };
  test.each([
    ['none', () => 'nonsense', 404, []],
    ['cut off', cut, 403, ['forged']],
    ['forged', forge, 403, ['forged']],
  ])('%s gets a page that says so', async (_what, change, status, recorded) => {
    const made = await linked();
    const path = `/approve/${change(made.link.token)}`;
    const shown = await open(made.api, path);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ]);
    expect((await decide(made.api, path, { decision: 'approve' })).status).toBe(status);
    expect((await made.app.requests.get(made.requestId)).status).toBe('pending');
    expect(await refusals(made)).toEqual(recorded);
  });

  test('of a key that is not known any more gets one too', async () => {
    const { link, store, runnable } = await linked();
    const app = runtime({
      app: 'shop',
      store,
      runnables: [runnable],
      recover: 'manual',
      approvals: { keys: [{ id: 'new', secret: 'n'.repeat(32) }] },
    });
    expect((await open(server(app), `/approve/${link.token}`)).status).toBe(403);
    const keyless = runtime({ app: 'shop', store, runnables: [runnable], recover: 'manual' });
    expect((await open(server(keyless), `/approve/${link.token}`)).status).toBe(404);
  });

  test('over is 410', async () => {
    const clock = testClock();
    const made = await linked(
      { store: memoryStore({ clock }), runtime: { ports: { clock } } },
      { expiresAt: clock.now() + 1_000 },
    );
    clock.advance(2_000);
    for (const page of [
      await open(made.api, made.path),
      await decide(made.api, made.path, { decision: 'approve' }),
    ])
      expect(page.status).toBe(410);
    expect(await refusals(made)).toEqual(['expired']);
  });

  test('of a session that is gone is 404', async () => {
    const { api, app, path, session } = await linked();
    await app.sessions.delete(session);
    expect((await open(api, path)).status).toBe(404);
    expect((await decide(api, path, { decision: 'approve' })).status).toBe(404);
  });

  test('about what is asked anew is 410', async () => {
    const clock = testClock();
    const make = (version: string) => {
      const pay = tool({
        name: 'pay',
        description: 'Pays',
        version,
        schema: z.object({}),
        approval: true,
        execute: () => 'paid',
      });
      return agent({
        name: 'payer',
        model: roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Done.' }]),
        tools: [pay],
      });
    };
    const store = memoryStore({ clock });
    const at = (runnable: Agent) =>
      runtime({
        app: 'shop',
        store,
        runnables: [runnable],
        recover: 'manual',
        ports: { clock },
        approvals: { keys: [linkKey] },
      });
    const first = make('1');
    const app = at(first);
    const waiting = await app.run(first, 'Pay');
    const { requestId } = waiting.pendingApprovals[0] ?? { requestId: '' };
    const { body } = await send(server(app), 'POST', `/v1/approvals/${requestId}/link`, {});
    await app.requests.approve(requestId);
    const later = at(make('2'));
    expect((await later.resume(waiting.session.id)).status).toBe('yielded');
    const page = await open(server(later), new URL(body.url).pathname);
    expect([page.status, page.text.includes('out of date')]).toEqual([410, true]);
  });
});

describe('making links', () => {
  test.each([
    [{ decisions: ['edit'] }, 400, 'invalid_request'],
    [{ decisions: [] }, 400, 'invalid_request'],
    [{ decisions: ['retry'] }, 400, 'decision_not_offered'],
    [{ expiresAt: 1 }, 400, 'invalid_answer'],
    [{ by: 'model' }, 400, 'invalid_answer'],
    [{ until: 1 }, 400, 'invalid_request'],
  ])('needs %j to be otherwise', async (body, status, code) => {
    const { api, requestId } = await waitingServer();
    expect(await send(api, 'POST', `/v1/approvals/${requestId}/link`, body)).toMatchObject({
      status,
      body: { code },
    });
  });

  test('needs keys, and a request that waits', async () => {
    const { app, requestId, store, runnable, api } = await waitingServer();
    const keyless = runtime({ app: 'shop', store, runnables: [runnable], recover: 'manual' });
    const path = `/v1/approvals/${requestId}/link`;
    expect(await send(server(keyless), 'POST', path, {})).toMatchObject({
      status: 409,
      body: { code: 'approval_links_unavailable' },
    });
    await app.requests.approve(requestId);
    expect(await send(api, 'POST', path, {})).toMatchObject({
      status: 409,
      body: { code: 'request_settled' },
    });
  });

  test(
    'in the name of somebody else is for admins, so that nobody can decide what ' + 'they may not',
    async () => {
      const { api, app, requestId } = await waitingServer({
        mayDecide: ['ann'],
        user: 'bob',
        server: tokenAuth,
      });
      const path = `/v1/approvals/${requestId}/link`;
      const by = (claims: Parameters<typeof bearer>[0]) => bearer(claims);
      expect(
        (await send(api, 'POST', path, { by: 'ann' }, await by({ sub: 'carol' }))).status,
      ).toBe(403);
      expect((await send(api, 'POST', path, {}, await by({ sub: 'carol' }))).body.code).toBe(
        'may_not_decide',
      );
      expect(
        (await send(api, 'POST', path, {}, await by({ sub: 'x', user: 'bob' }))).body.code,
      ).toBe('may_not_decide');
      expect(
        (
          await send(
            api,
            'POST',
            path,
            { by: 'ann' },
            await by({ sub: 'x', user: 'bob', roles: ['admin'] }),
          )
        ).status,
      ).toBe(403);
      const { status, body } = await send(
        api,
        'POST',
        path,
        { by: 'ann' },
        await by({ sub: 'root', roles: ['admin'] }),
      );
      expect(status).toBe(201);
      const page = new URL(body.url).pathname;
      expect((await open(api, page)).text).toContain('<dt>You decide as</dt><dd>ann</dd>');
      expect((await decide(api, page, { decision: 'approve' })).status).toBe(200);
      expect(await app.requests.get(requestId)).toMatchObject({ settledBy: 'user:ann' });
    },
  );

  test('works for other tenants by the token alone; tokens of others decide nothing', async () => {
    const made = await waitingServer();
    const tenant = made.app.tenants.get('acme');
    const { pendingApprovals, session } = await tenant.run(made.runnable, 'Pay');
    const token = await tenant.requests.token(pendingApprovals[0]?.requestId ?? '');
    const name = (text: string): string => Buffer.from(text).toString('base64url');
    // Older builds wrote the tenant behind the token.
    for (const path of [`/approve/${token}`, `/approve/${token}~${name('acme')}`])
      expect((await open(made.api, path)).status).toBe(200);
    expect((await open(made.api, `/approve/nonsense~${name('acme')}`)).status).toBe(404);
    const foreign = runtime({
      app: 'shop',
      approvals: { keys: [{ ...linkKey, secret: 'x'.repeat(32) }] },
      runnables: [made.runnable],
    }).tenants.get('acme');
    const forged = await foreign.requests.token(
      (await foreign.run(made.runnable, 'Pay')).pendingApprovals[0]?.requestId ?? '',
    );
    expect((await open(made.api, `/approve/${forged}`)).status).toBe(403);
    expect((await decide(made.api, `/approve/${token}`, { decision: 'approve' })).status).toBe(200);
    expect((await tenant.resume(session.id)).status).toBe('completed');
    expect(made.paid).toHaveLength(1);
  });

  test('is made in code too, for any tenant, and says what to do when it is none', async () => {
    const made = await waitingServer({ server: { publicUrl: 'https://agents.example.com/' } });
    const acme = made.app.tenants.get('acme');
    const { pendingApprovals } = await acme.run(made.runnable, 'Pay');
    const link = await made.api.link(pendingApprovals[0]?.requestId ?? '', {
      tenant: 'acme',
      decisions: ['approve'],
      by: 'ann',
    });
    expect(link).toMatch(/^https:\/\/agents\.example\.com\/approve\/adj1\./);
    const { pathname } = new URL(link);
    expect((await open(made.api, pathname)).text).toContain('ann');
    expect((await open(made.api, pathname)).text).not.toContain('value="reject"');
    // The app knows the address by its server.
    expect(await made.app.requests.link(made.requestId)).toMatch(/^https:\/\/agents\.example\.com/);
    await expect(made.api.link('req_other')).rejects.toMatchObject({ code: 'request_not_found' });
    const cut = await open(made.api, pathname.slice(0, -60));
    expect(cut.status).toBe(404);
    expect(cut.text).toContain('server.link(…)');

    const listening = await serve(made.app, { port: 0, processGuard: false });
    const shown = await fetch(await listening.link(made.requestId));
    expect(shown.status).toBe(200);
    expect(await shown.text()).toContain('pay');
    await listening.close();
  });
});
