import { type Agent, agent, type Event, memoryStore, runtime, type Store, tool } from 'adjutant';
import { roundModel, testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AdjutantServer, serve, server } from '../../src/index.ts';
import { checkAnswer } from '../rest/documented.ts';
import {
  bearer,
  documentOf,
  linkKey,
  type PayingOptions,
  send,
  tokenAuth,
  waitingServer,
} from './paying-app.ts';

async function linked(options: PayingOptions = {}, link: object = {}) {
  const made = await waitingServer(options);
  const { status, body } = await send(
    made.api,
    'POST',
    `/v1/approvals/${made.requestId}/link`,
    link,
  );
  expect(status).toBe(201);
  return { ...made, link: body, path: new URL(body.url).pathname };
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function open(api: AdjutantServer, path: string, init: RequestInit = {}): Promise<Page> {
  const response = await api.fetch(new Request(`http://localhost${path}`, init));
  const { method = 'GET' } = init;
  const contentType = response.headers.get('content-type');
  if (method !== 'HEAD')
    checkAnswer(documentOf(api), {
      method,
      path,
      status: response.status,
      contentType,
      body: undefined,
    });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function decide(
  api: AdjutantServer,
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Page> {
  return open(api, path, { method: 'POST', body: new URLSearchParams(form), headers });
}

/** Reasons for which the ledger says that tokens were refused. */
async function refusals({
  app,
  session,
}: Awaited<ReturnType<typeof waitingServer>>): Promise<unknown[]> {
  await app.resume(session);
  return refusalsIn((await app.sessions.open({ id: session })).events);
}

function refusalsIn(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'approval_token'
      ? [event.data?.['reason']]
      : [],
  );
}

describe('the page', () => {
  test('shows what is asked, and changes nothing, as often as it is looked at', async () => {
    const { api, path, store, session, link } = await linked({
      summary: 'Pay 5 cents to Bob',
      user: 'ann',
      payments: [{ cents: 5, to: 'Bob' }],
    });
    expect(link.url).toBe(`http://localhost/approve/${link.token}`);
    const ledgers = store.for({ tenant: 'default', app: 'shop' });
    const before = [await ledgers.head(session), await ledgers.inbox(session)];
    for (const method of ['GET', 'HEAD', 'GET']) {
      const { status, text } = await open(api, path, { method });
      expect(status).toBe(200);
      if (method === 'GET')
        for (const shown of [
          'Pay 5 cents to Bob',
          'payer',
          'ann',
          'UTC',
          '>Approve<',
          '>Reject<',
          '&quot;to&quot;: &quot;Bob&quot;',
        ])
          expect(text).toContain(shown);
      expect(text).not.toMatch(/<script|edit|javascript:| on\w+=/i);
    }
    expect([await ledgers.head(session), await ledgers.inbox(session)]).toEqual(before);
  });

  test('may do nothing but show itself and send its form, and is kept nowhere', async () => {
    const { api, path } = await linked();
    for (const { headers, text } of [await open(api, path), await open(api, '/approve/nonsense')]) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(text).not.toMatch(/src=|@import|url\(/);
    }
  });

  test('escapes every value, and shows characters that would hide others', async () => {
    const hostile = '<img src=x onerror=alert(1)>"\'&\u202egnp.exe\u200b';
    const { api, path } = await linked({
      summary: hostile,
      details: { [hostile]: hostile },
      user: hostile,
    });
    const { text } = await open(api, path);
    expect(text).not.toContain('<img');
    expect(text).not.toMatch(/[\u202e\u200b]/);
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(text).toContain('\\u202egnp.exe\\u200b');
  });

  test('has no tag that is not its own, whatever it shows', async () => {
    const tags = (text: string): string =>
      [...text.matchAll(/<\/?[a-zA-Z!][^\s>]*/g)].map(([tag]) => tag).join(' ');
    const plain = await linked({ summary: 'x', details: 'x' });
    const expected = tags((await open(plain.api, plain.path)).text);
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.jsonValue(),
        async (summary, details) => {
          const { api, path } = await linked({
            summary: `${summary}<b>"'`,
            details: [details, summary] as never,
          });
          expect(tags((await open(api, path)).text)).toBe(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('is under the address that people know', async () => {
    const { link, api } = await linked({ server: { publicUrl: 'https://agents.example.com/' } });
    expect(link.url).toBe(`https://agents.example.com/approve/${link.token}`);
    const page = await decide(
      api,
      new URL(link.url).pathname,
      { decision: 'approve' },
      { origin: 'https://agents.example.com' },
    );
    expect(page.status).toBe(200);
  });
});

describe('its form', () => {
  test('decides, once, with the reason', async () => {
    const { api, app, path, session, paid, requestId } = await linked();
    const done = await decide(api, path, { decision: 'approve', reason: ' by mail ' });
    expect([done.status, done.text.includes('You approved it.')]).toEqual([200, true]);
    expect(await app.requests.get(requestId)).toMatchObject({
      status: 'answered',
      settledBy: 'user',
    });
    expect((await open(api, path)).status).toBe(410);
    expect((await decide(api, path, { decision: 'reject' })).status).toBe(410);
    expect((await app.resume(session)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
    const { events } = await app.sessions.open({ id: session });
    expect(events.find((event) => event.type === 'tool_input')).toMatchObject({
      decision: 'approve',
      reason: 'by mail',
      by: 'user',
    });
    expect(refusalsIn(events)).toEqual(['already_used']);
  });

  test('counts once when it is sent several times at the same moment', async () => {
    const { api, app, path, session, paid } = await linked();
    const pages = await Promise.all(
      Array.from({ length: 5 }, () => decide(api, path, { decision: 'approve' })),
    );
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 410, 410, 410, 410]);
    await app.resume(session);
    expect(paid).toHaveLength(1);
  });

  test('that another site sends is refused, and so is one without a decision', async () => {
    const made = await linked();
    const { api, app, path, requestId } = made;
    const attempts: [Record<string, string>, Record<string, string>, number][] = [
      [{ decision: 'approve' }, { origin: 'https://evil.example' }, 403],
      [{ decision: 'approve' }, { 'sec-fetch-site': 'cross-site' }, 403],
      [{ decision: 'approve' }, { 'sec-fetch-site': 'same-site' }, 403],
      [{}, {}, 400],
      [{ decision: '' }, {}, 400],
      [{ decision: 'approve', reason: 'x'.repeat(2_001) }, {}, 400],
    ];
    for (const [form, headers, status] of attempts)
      expect((await decide(api, path, form, headers)).status).toBe(status);
    expect(
      (
        await open(api, path, {
          method: 'POST',
          body: 'x',
          headers: { 'content-type': 'text/plain' },
        })
      ).status,
    ).toBe(400);
    expect((await app.requests.get(requestId)).status).toBe('pending');
    expect(
      (
        await decide(
          api,
          path,
          { decision: 'approve' },
          { origin: 'null', 'sec-fetch-site': 'same-origin' },
        )
      ).status,
    ).toBe(200);
  });

  test('cannot decide what the link is not for', async () => {
    const made = await linked({}, { decisions: ['reject'] });
    const { api, path, app, requestId } = made;
    expect((await open(api, path)).text).not.toContain('Approve');
    for (const decision of ['approve', 'edit', 'nonsense'])
      expect((await decide(api, path, { decision })).status).toBe(403);
    expect((await app.requests.get(requestId)).status).toBe('pending');
    expect((await decide(api, path, { decision: 'reject' })).status).toBe(200);
    expect(await refusals(made)).toEqual(['not_signed_for']);
  });
});

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

test('what goes wrong inside is a page too, and no log has the token', async () => {
  const made = await linked();
  const reported: string[] = [];
  const store: Store = {
    ...made.store,
    for: () => ({
      ...made.store.for({ tenant: 'x', app: 'x' }),
      requests: () => Promise.reject(new Error('down')),
    }),
  };
  const app = runtime({
    app: 'shop',
    store,
    runnables: [made.runnable],
    recover: 'manual',
    approvals: { keys: [linkKey] },
  });
  const api = server(app, {
    onError: (error, request) => reported.push(`${error} ${JSON.stringify(request)}`),
  });
  const { status, headers, text } = await open(api, made.path);
  expect([status, headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
  expect(text).toContain('Something went wrong');
  expect(reported).toHaveLength(1);
  expect(reported[0]).toContain('/approve/…');
  expect(reported[0]).not.toContain(made.link.token.slice(-20));
});

test('a long reason is counted as people see it', async () => {
  const { api, path } = await linked();
  const lines = `${'x'.repeat(999)}\r\n`.repeat(2);
  expect((await decide(api, path, { decision: 'approve', reason: lines })).status).toBe(200);
});
