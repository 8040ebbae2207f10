import { agent, memoryStore, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { apiKeys, type NewApiKey, server } from '../../../src/index.ts';
import { type Answered, ask } from '../../access/caller.ts';

async function shop() {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const clerk = agent({ name: 'clerk', model: roundModel([{ text: 'Hello.' }]) });
  const payer = agent({
    name: 'payer',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk, payer] });
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const key = async (bound: Partial<NewApiKey>) =>
    (await apiKeys(app).create({ name: 'x', roles: ['admin'], ...bound })).credential;
  const [ann, bob, unbound] = await Promise.all([
    key({ user: 'ann' }),
    key({ user: 'bob' }),
    key({}),
  ]);
  return { app, api, ann, bob, unbound, key, payer };
}

/** Makes a request of `useChat`. */
function chat(id: string, text = 'Hi', message = 'm1'): object {
  return { id, messages: [{ id: message, role: 'user', parts: [{ type: 'text', text }] }] };
}

/** An answer without what names the request and what it made. */
function toldBy({ status, text, headers }: Answered): object {
  const plain = text
    .replaceAll(/(req|msg|chat|session|run)_[a-z0-9]+/g, '$1')
    .replaceAll(/"(createdAt|updatedAt)":\d+/g, '');
  return { status, text: plain, type: headers.get('content-type') };
}

describe('A14: a caller who is bound to a user', () => {
  test.for<[string, (id: string) => [string, object?]]>([
    ['a new session', (id) => ['POST /v1/sessions', { id }]],
    ['a fork', (id) => ['POST /v1/sessions/own/fork', { id }]],
    ['a run', (id) => ['POST /v1/runs', { agent: 'clerk', input: 'Hi', session: id }]],
    [
      'a run in a session',
      (id) => [`POST /v1/sessions/${id}/runs`, { agent: 'clerk', input: 'Hi' }],
    ],
    ['a look', (id) => [`GET /v1/sessions/${id}`]],
    ['a fork of it', (id) => [`POST /v1/sessions/${id}/fork`, {}]],
    ['a deletion', (id) => [`DELETE /v1/sessions/${id}`]],
    ['a message', (id) => [`POST /v1/sessions/${id}/messages`, { text: 'Hi' }]],
    ['a chat', (id) => ['POST /v1/agents/clerk/chat', chat(id)]],
    ['a chat that goes on', (id) => [`GET /v1/agents/clerk/chat/${id}/stream`]],
    [
      'an answer in a chat',
      (id) => {
        const part = {
          type: 'tool-pay',
          toolCallId: 'x',
          state: 'approval-responded',
          approval: { id: 'x', approved: true },
        };
        return [
          'POST /v1/agents/payer/chat',
          { id, messages: [{ id: 'm', role: 'assistant', parts: [part] }] },
        ];
      },
    ],
    ['usage', (id) => [`GET /v1/usage?session=${id}`]],
    ['requests', (id) => [`GET /v1/approvals?session=${id}`]],
  ])(
    'is told the same by %s, whether others have a session of this id or not',
    async ([, call]) => {
      const { app, api, ann, payer } = await shop();
      await app.sessions.create({ id: 'own', userId: 'ann' });
      await app.run(payer, {
        session: await app.sessions.create({ id: 'taken', userId: 'bob' }),
        input: 'Pay',
      });
      const before = await headOf(app, 'taken');
      const [taken, free] = ['taken', 'freed'];
      const answers = [];
      for (const id of [taken, free]) {
        const [what, body] = call(id);
        const answer = await ask(api, what, { as: ann, ...(body === undefined ? {} : { body }) });
        const told = JSON.parse(JSON.stringify(toldBy(answer)).replaceAll(id, 'id')) as object;
        answers.push(told);
      }
      expect(answers[0]).toEqual(answers[1]);
      expect(await headOf(app, 'taken')).toEqual(before);
      // The id of a later session of the app is still free.
      expect((await app.sessions.list({ id: free })).sessions).toEqual([]);
    },
  );

  test('does not choose the id of a session or of a fork', async () => {
    const { api, ann, unbound } = await shop();
    const made = await ask(api, 'POST /v1/sessions', { as: ann, body: {} });
    expect(made.status).toBe(201);
    for (const [path, body] of [
      ['/v1/sessions', { id: 'mine' }],
      [`/v1/sessions/${made.body.id}/fork`, { id: 'mine' }],
      ['/v1/sessions/nowhere/fork', { id: 'mine' }],
    ] as const) {
      expect(await ask(api, `POST ${path}`, { as: ann, body })).toMatchObject({
        status: 400,
        body: { code: 'session_id_not_allowed' },
      });
      expect((await ask(api, 'GET /v1/sessions/mine', { as: unbound })).status).toBe(404);
    }
    const fork = await ask(api, `POST /v1/sessions/${made.body.id}/fork`, { as: ann, body: {} });
    expect(fork).toMatchObject({ status: 201, body: { user: 'ann' } });
    expect(
      (await ask(api, 'POST /v1/sessions', { as: unbound, body: { id: 'mine', user: 'ann' } }))
        .status,
    ).toBe(201);
  });

  test('has chats under the ids that pages choose, beside those of others', async () => {
    const { app, api, ann, bob, unbound } = await shop();
    const said = await Promise.all(
      [ann, bob, unbound].map((as) =>
        ask(api, 'POST /v1/agents/clerk/chat', { as, body: chat('chat-7') }),
      ),
    );
    expect(said.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [anns, bobs, own] = said.map(({ headers }) => headers.get('location') ?? '');
    expect(own).toBe('/v1/sessions/chat-7');
    expect(new Set([anns, bobs, own]).size).toBe(3);
    expect((await ask(api, `GET ${anns}`, { as: ann })).body.user).toBe('ann');
    expect((await ask(api, `GET ${anns}`, { as: bob })).status).toBe(404);
    // The same chat, whenever a message comes.
    const next = await ask(api, 'POST /v1/agents/clerk/chat', {
      as: ann,
      body: chat('chat-7', 'And now?', 'm2'),
    });
    expect(next.headers.get('location')).toBe(anns);
    const { sessions } = await app.sessions.list();
    expect(sessions).toHaveLength(3);
    expect((await ask(api, `GET ${anns}/transcript`, { as: ann })).text).toContain('And now?');
    for (const address of [bobs, own])
      expect((await ask(api, `GET ${address}/transcript`, { as: unbound })).text).not.toContain(
        'And now?',
      );
  });

  test(
    'answers what a chat asks, and takes it up again, by the id that the ' + 'page chose',
    async () => {
      const { api, ann, bob } = await shop();
      const asked = await ask(api, 'POST /v1/agents/payer/chat', { as: ann, body: chat('pay') });
      const chunks = asked.text
        .split('\n')
        .flatMap((line) =>
          line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as Record<string, string>] : [],
        );
      const { approvalId, toolCallId } =
        chunks.find(({ type }) => type === 'tool-approval-request') ?? {};
      const resumed = await ask(api, 'GET /v1/agents/payer/chat/pay/stream', { as: ann });
      expect(resumed.status).toBe(200);
      expect(resumed.text).toContain(approvalId);
      expect((await ask(api, 'GET /v1/agents/payer/chat/pay/stream', { as: bob })).status).toBe(
        204,
      );
      const part = {
        type: 'tool-pay',
        toolCallId,
        state: 'approval-responded',
        approval: { id: approvalId, approved: true },
      };
      const body = {
        id: 'pay',
        messages: [{ id: chunks[0]?.['messageId'], role: 'assistant', parts: [part] }],
      };
      expect(await ask(api, 'POST /v1/agents/payer/chat', { as: bob, body })).toMatchObject({
        status: 404,
        body: { code: 'session_not_found' },
      });
      const answered = await ask(api, 'POST /v1/agents/payer/chat', { as: ann, body });
      expect(answered.status).toBe(200);
      expect(answered.headers.get('location')).toBe(asked.headers.get('location'));
    },
  );

  test('goes on in a session of its own by the id of that', async () => {
    const { app, api, ann } = await shop();
    await app.sessions.create({ id: 'chat-of-before', userId: 'ann' });
    const answer = await ask(api, 'POST /v1/agents/clerk/chat', {
      as: ann,
      body: chat('chat-of-before'),
    });
    expect(answer.headers.get('location')).toBe('/v1/sessions/chat-of-before');
    expect((await app.sessions.list()).sessions).toHaveLength(1);
  });

  test('has chats of its own in each tenant', async () => {
    const { api, ann, key } = await shop();
    const elsewhere = await key({ user: 'ann', tenant: 'other' });
    const [here, there] = await Promise.all(
      [ann, elsewhere].map((as) =>
        ask(api, 'POST /v1/agents/clerk/chat', { as, body: chat('one') }),
      ),
    );
    expect(here?.headers.get('location')).not.toBe(there?.headers.get('location'));
  });
});

async function headOf(app: Awaited<ReturnType<typeof shop>>['app'], id: string): Promise<unknown> {
  return app.store.for({ tenant: app.tenant, app: app.app }).head(id);
}
