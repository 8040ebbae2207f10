import type { Runtime } from 'adjutant';
import { systemClock, systemIds } from 'adjutant/ports';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  credentialOf,
  hashOfSecret,
  keyComponent,
  newKeySecret,
} from '../../../src/access/api-key.ts';
import { KeyRing } from '../../../src/access/key-ring.ts';
import { apiKeys, serve } from '../../../src/index.ts';
import { bearer, send, tokenAuth, waitingServer } from '../../approvals/paying-app.ts';

type Made = Awaited<ReturnType<typeof waitingServer>>;
type Door = (made: Made, headers: Readonly<Record<string, string>>) => Promise<boolean>;

/** Ways to say yes to what waits: whether it was taken. */
const doors: Readonly<Record<string, Door>> = {
  answer: async ({ api, requestId }, headers) => {
    const { status } = await send(
      api,
      'POST',
      `/v1/approvals/${requestId}`,
      { decision: 'approve' },
      headers,
    );
    return status === 200;
  },
  batch: async ({ api, requestId }, headers) => {
    const { body } = await send(
      api,
      'POST',
      '/v1/approvals',
      { answers: [{ requestId, decision: 'approve' }] },
      headers,
    );
    return (body.outcomes[0] as { accepted: boolean }).accepted;
  },
  chat: async ({ api, requestId, session, app }, headers) => {
    const [run] = await app.requests.list({ session });
    const toolCallId = run?.callId ?? '';
    const part = {
      type: 'tool-pay',
      toolCallId,
      state: 'approval-responded',
      approval: { id: requestId, approved: true },
    };
    const body = { id: session, messages: [{ id: 'm', role: 'assistant', parts: [part] }] };
    const response = await api.fetch(
      new Request('http://localhost/v1/agents/payer/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );
    await response.body?.cancel();
    return response.status === 200;
  },
  link: async ({ api, requestId }, headers) => linked(api, requestId, headers, {}),
  socket: async ({ app, requestId, session }, headers) => {
    const { url, close } = await serve(app, { port: 0, ...tokenAuth });
    onTestFinished(() => close());
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/sessions/${session}/socket`, {
      headers,
    });
    onTestFinished(() => socket.terminate());
    const answer = new Promise<string>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () =>
        socket.send(
          JSON.stringify({ type: 'answer', id: 1, request: requestId, decision: 'approve' }),
        ),
      );
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as { type: string; id?: number };
        if (message.id === 1) resolve(message.type);
      });
    });
    return (await answer) === 'ack';
  },
};

/** Makes a link, opens it and says yes. */
async function linked(
  api: Made['api'],
  requestId: string,
  headers: Readonly<Record<string, string>>,
  options: object,
): Promise<boolean> {
  const { status, body } = await send(
    api,
    'POST',
    `/v1/approvals/${requestId}/link`,
    options,
    headers,
  );
  if (status !== 201) return false;
  const decided = await api.fetch(
    new Request(body.url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'decision=approve',
    }),
  );
  return decided.status === 200;
}

/** A key as it was made when all names of users were let in. */
async function oldKey(app: Runtime, user: string): Promise<{ readonly authorization: string }> {
  const secret = newKeySecret();
  const data = {
    key: 'oldkey',
    name: 'old',
    tenant: app.tenant,
    roles: ['admin'],
    user,
    expiresAt: 9e15,
    hash: hashOfSecret(secret),
  };
  const ring = new KeyRing(app, { clock: systemClock, ids: systemIds });
  await ring.change(() => [
    {
      type: 'decision',
      by: 'operator',
      component: keyComponent,
      decision: 'created',
      reasoning: 'A key',
      data,
    },
  ]);
  return { authorization: `Bearer ${credentialOf('oldkey', secret)}` };
}

const callers = {
  'user:cfo': { sub: 'somebody', user: 'cfo' },
  'operator:cfo': { sub: 'cfo' },
} as const;

describe.for(Object.keys(doors))('A2: through the door %s', (door) => {
  describe.for(Object.keys(callers) as (keyof typeof callers)[])('%s decides', (actor) => {
    test.for([
      [['cfo'], 'user:cfo'],
      [['user:cfo'], 'user:cfo'],
      [['operator:cfo'], 'operator:cfo'],
      [['bob', 'user:operator:cfo', 'operator:user:cfo'], undefined],
    ] as const)('what %j may', async ([mayDecide, wanted]) => {
      const made = await waitingServer({ mayDecide, user: 'cfo', server: tokenAuth });
      // A link of an operator who is not bound to a user names nobody unless it says so.
      const isTaken = actor === wanted && !(door === 'link' && actor === 'operator:cfo');
      expect(await (doors[door] as Door)(made, await bearer(callers[actor]))).toBe(isTaken);
      const { status, settledBy } = await made.app.requests.get(made.requestId);
      expect({ status, settledBy }).toEqual(
        isTaken
          ? { status: 'answered', settledBy: actor }
          : { status: 'pending', settledBy: undefined },
      );
    });
  });
});

const prefixes = ['user', 'operator', 'trigger', 'runtime', 'model', 'tool', 'key', 'Operator'];

describe('A2: names that begin as if they had a kind', () => {
  test.for(prefixes)('let no token in: %s:alice', async (prefix) => {
    const { api, requestId } = await waitingServer({
      mayDecide: ['operator:alice', 'user:alice', 'alice'],
      server: tokenAuth,
    });
    const name = `${prefix}:alice`;
    for (const claims of [{ sub: name }, { sub: 'x', user: name }]) {
      const answer = await send(
        api,
        'POST',
        `/v1/approvals/${requestId}`,
        { decision: 'approve' },
        await bearer(claims),
      );
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    }
  });

  test.for(prefixes)('are given to no API key: %s:alice', async (prefix) => {
    const { app, api } = await waitingServer({ server: { auth: {} } });
    const user = `${prefix}:alice`;
    const keys = apiKeys(app);
    await expect(keys.create({ name: 'x', roles: ['operator'], user })).rejects.toMatchObject({
      code: 'invalid_api_key',
    });
    const { credential } = await keys.create({ name: 'root', roles: ['admin'] });
    const asked = { name: 'x', roles: ['operator'], user };
    const { status, body } = await send(api, 'POST', '/v1/keys', asked, {
      authorization: `Bearer ${credential}`,
    });
    expect(status).toBe(400);
    expect(body.code).toMatch(/^invalid_(api_key|request)$/);
  });

  test('may have a colon elsewhere', async () => {
    const made = await waitingServer({
      mayDecide: ['team:alice'],
      user: 'team:alice',
      server: tokenAuth,
    });
    expect(
      await (doors['answer'] as Door)(made, await bearer({ sub: 'auth0|x', user: 'team:alice' })),
    ).toBe(true);
    expect(await made.app.requests.get(made.requestId)).toMatchObject({
      settledBy: 'user:team:alice',
    });
  });
});

describe('A2: a link', () => {
  test.for<[string | undefined, keyof typeof callers, readonly string[], string | undefined]>([
    // by, who makes it, its roles, whose decision it is; nothing where it is refused
    ['cfo', 'user:cfo', ['operator'], 'user:cfo'],
    ['user:cfo', 'user:cfo', ['operator'], 'user:cfo'],
    [undefined, 'user:cfo', ['operator'], 'user:cfo'],
    ['operator:cfo', 'user:cfo', ['admin'], undefined],
    ['operator', 'user:cfo', ['admin'], undefined],
    ['user', 'user:cfo', ['admin'], undefined],
    ['user:user:cfo', 'user:cfo', ['admin'], undefined],
    ['operator:cfo', 'operator:cfo', ['operator'], 'operator:cfo'],
    ['cfo', 'operator:cfo', ['operator'], undefined],
    ['user:cfo', 'operator:cfo', ['operator'], undefined],
    ['operator', 'operator:cfo', ['operator'], undefined],
    ['cfo', 'operator:cfo', ['admin'], 'user:cfo'],
    ['operator:ann', 'operator:cfo', ['admin'], 'operator:ann'],
    [undefined, 'operator:cfo', ['operator'], 'user'],
  ])('by %j that %s (%j) makes is the decision of %s', async ([by, maker, roles, wanted]) => {
    const { api, app, requestId } = await waitingServer({ user: 'cfo', server: tokenAuth });
    const headers = await bearer({ ...callers[maker], roles });
    const isTaken = await linked(api, requestId, headers, by === undefined ? {} : { by });
    expect(isTaken).toBe(wanted !== undefined);
    expect((await app.requests.get(requestId)).settledBy).toBe(wanted);
  });

  test.for(['operator:alice', 'user:cfo', 'operator'])(
    'is not made in the name %j by an old key of a user of this name',
    async (name) => {
      const { api, app, requestId } = await waitingServer({ user: name, server: { auth: {} } });
      const headers = await oldKey(app, name);
      expect(await linked(api, requestId, headers, { by: name })).toBe(false);
      const { status, body } = await send(
        api,
        'POST',
        `/v1/approvals/${requestId}/link`,
        {},
        headers,
      );
      expect(status).toBe(201);
      const page = await (await api.fetch(new Request(body.url))).text();
      // The page does not show the name of somebody else.
      expect(page).toContain(`<dd>user:${name}</dd>`);
      expect(await linked(api, requestId, headers, {})).toBe(true);
      expect(await app.requests.get(requestId)).toMatchObject({ settledBy: `user:${name}` });
    },
  );
});
