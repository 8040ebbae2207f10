import { agent, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { server } from '../../src/index.ts';

function shop() {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]);
  const app = runtime({ app: 'shop', runnables: [agent({ name: 'shop', model, tools: [pay] })] });
  const made = server(app);
  const post = async (path: string, body: object) => {
    const answer = await made.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    const text = await answer.text();
    return { status: answer.status, text };
  };
  const refusalOf = async (path: string, body: object) => {
    const { status, text } = await post(path, body);
    const { detail, code } = JSON.parse(text) as { detail: string; code: string };
    return { status, detail, code };
  };
  return { app, post, refusalOf };
}

const chat = (text: string, more: object = {}) => ({
  id: 'c1',
  messages: [{ id: `m-${text}`, role: 'user', parts: [{ type: 'text', text }] }],
  ...more,
});

test('a member that the body does not have is told with those that there are', async () => {
  const { refusalOf } = shop();
  expect(await refusalOf('/v1/runs', { agent: 'shop', message: 'hi' })).toEqual({
    status: 400,
    code: 'invalid_request',
    detail:
      'The request does not fit: body: there is no member "message" ' +
      '(the members are agent, input, data, id, lane, session, user).',
  });
  expect((await refusalOf('/v1/runs', { agnet: 'shop', input: 'hi' })).detail).toContain(
    'there is no member "agnet" (did you mean "agent"?)',
  );
  const long = await refusalOf('/v1/runs', { [`x${'y'.repeat(5_000)}`]: 1 });
  expect(long.detail.length).toBeLessThan(300);
});

test('an answer as it is written elsewhere', async () => {
  const { app, post, refusalOf } = shop();
  await post('/v1/agents/shop/chat', chat('pay'));
  const [request] = await app.requests.list();
  const path = `/v1/approvals/${request?.requestId}`;
  expect((await refusalOf(path, { approved: true })).detail).toContain(
    'there is no member "approved" (the members are decision, input, args, reason, always)',
  );
  expect((await refusalOf(path, { decision: 'yes' })).detail).toContain('"approve"');
  const ofCall = `/v1/approvals/${encodeURIComponent(request?.callId ?? '')}`;
  expect(await refusalOf(ofCall, { decision: 'approve' })).toMatchObject({
    status: 404,
    code: 'request_not_found',
    detail: expect.stringContaining('that is the id of a call. Give the `requestId`'),
  });
});

test('useChat with fields of its own, files, and a message while something waits', async () => {
  const { post, refusalOf } = shop();
  expect(await refusalOf('/v1/agents/shop/chat', chat('pay', { locale: 'de' }))).toMatchObject({
    code: 'chat_fields_unsupported',
    detail: expect.stringContaining('the body has locale. Give the agent an `input`'),
  });
  const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' };
  const withFile = { id: 'c2', messages: [{ id: 'f', role: 'user', parts: [file] }] };
  expect(await refusalOf('/v1/agents/shop/chat', withFile)).toMatchObject({
    code: 'chat_part_unsupported',
    detail: expect.stringContaining('put what it says into the text'),
  });
  await post('/v1/agents/shop/chat', chat('pay'));
  const meanwhile = await post('/v1/agents/shop/chat', chat('Is anybody there?'));
  expect(meanwhile.status).toBe(200);
  expect(meanwhile.text).toContain('data-waiting');
});

test('an agent and an address that are nearly right', async () => {
  const { refusalOf } = shop();
  expect((await refusalOf('/v1/runs', { agent: 'shp', input: 'hi' })).detail).toBe(
    'There is no agent named "shp" (did you mean "shop"?).',
  );
  expect((await refusalOf('/v1/run', {})).detail).toContain('GET /v1/openapi.json lists');
});
