import { agent, memoryStore, runtime, type Tool, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { apiKeys, type NewApiKey, server } from '../../src/index.ts';

function tools(): Record<'pay' | 'payOwn' | 'askName', Tool> {
  const schema = z.object({});
  return {
    pay: tool({
      name: 'pay',
      description: 'Pays',
      schema,
      approval: true,
      execute: () => 'paid',
    }),
    payOwn: tool({
      name: 'payOwn',
      description: 'Pays what the user may allow',
      schema,
      approval: { mayDecide: ['ann'] },
      execute: () => 'paid',
    }),
    askName: tool({
      name: 'askName',
      description: 'Asks for a name',
      schema,
      yieldSchema: z.object({ name: z.string() }),
      finalize: ({ input }) => (input as { name: string }).name,
    }),
  };
}

async function served(calls: keyof ReturnType<typeof tools>) {
  const called = tools()[calls];
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: calls, args: {} }] }, { text: 'Done.' }]),
    tools: [called],
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  async function caller(key: Partial<NewApiKey>) {
    const { credential } = await apiKeys(app).create({ name: 'x', roles: ['user'], ...key });
    return async (method: string, path: string, body?: object) => {
      const response = await api.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            authorization: `Bearer ${credential}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      );
      const { status, headers } = response;
      return { status, location: headers.get('location') ?? '', text: await response.text() };
    };
  }
  return { app, caller };
}

const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Please' }] };
const asking = { id: 'chat-1', messages: [message] };

function chunks(text: string): ({ readonly type: string } & Record<string, unknown>)[] {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
}

function requestIn(text: string): Record<string, unknown> {
  return chunks(text).find(({ type }) => type === 'tool-approval-request') ?? {};
}

/** The request that `useChat` sends when somebody approves. */
function approving(text: string, name: string): object {
  const told = chunks(text);
  const { toolCallId, approvalId: id } = requestIn(text);
  const part = {
    type: `tool-${name}`,
    toolCallId,
    state: 'approval-responded',
    approval: { id, approved: true },
  };
  const messageId = told.find(({ type }) => type === 'start')?.['messageId'];
  return { id: 'chat-1', messages: [{ id: messageId, role: 'assistant', parts: [part] }] };
}

describe('a caller with the role `user`', () => {
  test('chats, and does not approve what the agent wants to do for it', async () => {
    const { caller } = await served('pay');
    const ann = await caller({ user: 'ann' });
    const asked = await ann('POST', '/v1/agents/clerk/chat', asking);
    expect(asked.status).toBe(200);
    const denied = await ann('POST', '/v1/agents/clerk/chat', approving(asked.text, 'pay'));
    expect(denied.status).toBe(403);
    expect(JSON.parse(denied.text)).toMatchObject({ code: 'chat_may_not_decide' });
    const { approvalId } = requestIn(asked.text);
    for (const [path, body] of [
      [`/v1/approvals/${approvalId}`, { decision: 'approve' }],
      [`/v1/approvals/${approvalId}/link`, {}],
      ['/v1/runs', { agent: 'clerk', input: 'Hi' }],
      ['/v1/sessions', {}],
    ] as const)
      expect((await ann('POST', path, body)).status).toBe(403);
    // An operator may, and the user is let see what came of it.
    const operator = await caller({ roles: ['operator'] });
    expect(
      (await operator('POST', `/v1/approvals/${approvalId}`, { decision: 'approve' })).status,
    ).toBe(200);
  });

  test('approves where the tool names it', async () => {
    const { caller } = await served('payOwn');
    const ann = await caller({ user: 'ann' });
    const asked = await ann('POST', '/v1/agents/clerk/chat', asking);
    const rest = await ann('POST', '/v1/agents/clerk/chat', approving(asked.text, 'payOwn'));
    expect(chunks(rest.text).at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
  });

  test('gives the input that a tool asks for', async () => {
    const { caller } = await served('askName');
    const ann = await caller({ user: 'ann' });
    const asked = await ann('POST', '/v1/agents/clerk/chat', asking);
    const { data } = (chunks(asked.text).find(({ type }) => type === 'data-request') ?? {}) as {
      data?: { toolCallId: string };
    };
    const part = {
      type: 'tool-askName',
      toolCallId: data?.toolCallId,
      state: 'output-available',
      output: { name: 'Ann' },
    };
    const rest = await ann('POST', '/v1/agents/clerk/chat', {
      id: 'chat-1',
      messages: [{ id: 'a', role: 'assistant', parts: [part] }],
    });
    expect(chunks(rest.text)).toContainEqual(
      expect.objectContaining({ type: 'tool-output-available', output: 'Ann' }),
    );
  });

  test('cancels its own runs, and those of nobody else', async () => {
    const { caller } = await served('pay');
    const [ann, bob] = [await caller({ user: 'ann' }), await caller({ user: 'bob' })];
    const { location } = await ann('POST', '/v1/agents/clerk/chat', asking);
    expect((await bob('POST', `${location}/cancel`)).status).toBe(404);
    expect((await ann('POST', `${location}/cancel`)).status).toBe(202);
  });

  test('must be bound to a user', async () => {
    const { app, caller } = await served('pay');
    await expect(apiKeys(app).create({ name: 'x', roles: ['user'] })).rejects.toThrow(
      'must name its `user`',
    );
    expect(await caller({ roles: ['viewer'] })).toBeDefined();
  });
});

test('a token of the role `user` without a user may do nothing, and is told why', async () => {
  const secret = 'a secret of tests that is long enough';
  const { SignJWT } = await import('jose');
  const app = runtime({ app: 'shop', store: memoryStore() });
  const api = server(app, { auth: { jwt: { secret, claims: { tenant: false } } } });
  const sign = (claims: object): Promise<string> =>
    new SignJWT({ roles: ['user'], ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('s')
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(secret));
  const get = async (token: string): Promise<Response> =>
    api.fetch(
      new Request('http://localhost/v1/sessions', {
        headers: { authorization: `Bearer ${token}` },
      }),
    );
  const denied = await get(await sign({}));
  expect(denied.status).toBe(403);
  expect(await denied.text()).toContain('only for a credential that is bound to a user');
  expect((await get(await sign({ user: 'ann' }))).status).toBe(200);
  await api.close();
  await app.close();
});
