import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type NewApiKey, serve } from '../../src/index.ts';
import { ask } from './caller.ts';
import { type Inhabited, inhabited } from './inhabited.ts';

const strangers: readonly [string, Partial<NewApiKey>][] = [
  ['of another tenant', { tenant: 'right' }],
  ['of another tenant, for a user of the same name', { tenant: 'right', user: 'ann' }],
  ['bound to another user', { user: 'bob' }],
  ['bound to another agent', { agents: ['cook'] }],
];

describe.for(strangers)('a caller %s', ([, bound]) => {
  /** Ways to name what is somebody else's that are not in the address. */
  test.for<[string, unknown?]>([
    ['POST /v1/runs', { agent: 'clerk', input: 'Hi', session: 'left-done' }],
    ['POST /v1/runs', { agent: 'clerk', input: 'Hi', session: 'left-waiting' }],
    ['POST /v1/sessions', { id: 'left-done' }],
    ['POST /v1/sessions', { id: 'left-done', user: 'ann' }],
    ['GET /v1/sessions?user=ann'],
    ['GET /v1/sessions?agent=clerk'],
    ['GET /v1/approvals?session=left-waiting'],
    ['GET /v1/approvals?user=ann'],
    ['GET /v1/usage?session=left-done'],
    ['GET /v1/usage?user=ann'],
    ['GET /v1/usage?agent=clerk'],
  ])('sees and changes nothing by %s %j', async ([what, body]) => {
    const about = await inhabited();
    const as = await about.key(bound);
    const before = await about.ledgers();
    const { status, text } = await ask(about.api, what, { as, body });
    expect(status).toBeLessThan(500);
    const secrets = [
      'left-run',
      'private words',
      about.request,
      ...(what.startsWith('GET') ? ['left-done', 'left-waiting'] : []),
    ];
    // A refusal may repeat the requested text.
    const told = status < 400 ? text : text.replaceAll(/left-\w+/g, '');
    for (const secret of status < 400 && bound.tenant === 'right' && what.startsWith('POST')
      ? ['private words', about.request]
      : secrets) {
      expect(told).not.toContain(secret);
    }
    const after = await about.ledgers();
    expect(Object.fromEntries(Object.entries(after).filter(([id]) => id in before))).toEqual(
      before,
    );
  });

  test('answers nothing in a batch', async () => {
    const about = await inhabited();
    const before = await about.ledgers();
    const body = { answers: [{ requestId: about.request, decision: 'approve' }] };
    const { body: answered } = await ask(about.api, 'POST /v1/approvals', {
      as: await about.key(bound),
      body,
    });
    expect(JSON.stringify(answered)).toContain('request_not_found');
    expect(await about.ledgers()).toEqual(before);
    expect(about.paid).toEqual([]);
  });

  test('opens no socket', async () => {
    const about = await inhabited();
    const { url } = await served(about);
    expect(await handshake(`${url}/v1/sessions/left-done/socket`, await about.key(bound))).toBe(
      404,
    );
    expect(await handshake(`${url}/v1/sessions/left-done/socket`, await about.key())).toBe(101);
  });
});

test('sockets are not opened without a credential, or with one that is not valid', async () => {
  const about = await inhabited();
  const { url } = await served(about);
  const socket = `${url}/v1/sessions/left-done/socket`;
  expect(await handshake(socket, undefined)).toBe(401);
  expect(await handshake(socket, 'adj_x_y')).toBe(401);
  const as = await about.key({ roles: ['viewer'] });
  expect(await handshake(`${socket}?access_token=${as}`, undefined)).toBe(401);
  // Pages cannot set headers of a handshake.
  expect(await handshake(socket, undefined, ['adjutant.v1', `bearer.${as}`])).toBe(101);
  expect(await handshake(socket, undefined, ['adjutant.v1', 'bearer.adj_x_y'])).toBe(401);
});

test('two tenants have sessions of one name, each its own', async () => {
  const about = await inhabited();
  const before = await about.ledgers();
  const as = await about.key({ tenant: 'right' });
  expect(
    (await ask(about.api, 'POST /v1/sessions', { as, body: { id: 'left-done' } })).status,
  ).toBe(201);
  expect(
    (await ask(about.api, 'GET /v1/sessions/left-done/transcript', { as })).text,
  ).not.toContain('private words');
  expect((await ask(about.api, 'DELETE /v1/sessions/left-done', { as })).status).toBe(204);
  expect(await about.ledgers()).toEqual(before);
});

test('a link decides once', async () => {
  const about = await inhabited();
  const decide = {
    body: 'decision=approve',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' },
  };
  const forged = about.link.replace(
    /^(adj1\.[^.]+)\.(.)/,
    (_, head: string, first: string) => `${head}.${first === 'A' ? 'B' : 'A'}`,
  );
  expect((await ask(about.api, `POST /approve/${forged}`, decide)).status).toBe(403);
  const before = await about.ledgers();
  expect((await ask(about.api, `GET /approve/${about.link}`)).status).toBe(200);
  expect(await about.ledgers()).toEqual(before);
  expect((await ask(about.api, `POST /approve/${about.link}`, decide)).status).toBe(200);
  const answered = (await about.ledgers())[about.request];
  expect(answered).toBe('answered');
  const again = await ask(about.api, `POST /approve/${about.link}`, {
    ...decide,
    body: 'decision=reject',
  });
  expect(again.status).toBeGreaterThanOrEqual(400);
  expect((await ask(about.api, `GET /approve/${about.link}`)).status).toBeGreaterThanOrEqual(400);
});

async function served({ app }: Inhabited): Promise<{ readonly url: string }> {
  const listening = await serve(app, { auth: {}, port: 0 });
  onTestFinished(() => listening.close());
  return { url: listening.url.replace(/^http/, 'ws') };
}

/** The status of the answer to a handshake. */
function handshake(url: string, as: string | undefined, protocols: string[] = []): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(
      url,
      protocols,
      as === undefined ? {} : { headers: { authorization: `Bearer ${as}` } },
    );
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      socket.terminate();
      resolve(statusCode);
    });
    socket.on('error', reject);
  });
}
