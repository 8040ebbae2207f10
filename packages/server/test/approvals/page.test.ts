import { runtime, type Store } from 'adjutant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { server } from '../../src/index.ts';
import { decide, linked, open, refusals, refusalsIn } from './opened-page.ts';
import { linkKey } from './paying-app.ts';

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
