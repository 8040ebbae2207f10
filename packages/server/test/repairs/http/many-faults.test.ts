import { agent, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { server } from '../../../src/index.ts';

function api() {
  const app = runtime({
    app: 'shop',
    runnables: [agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'ok' })) })],
  });
  const errors: unknown[] = [];
  const made = server(app, { onError: (error) => void errors.push(error) });
  onTestFinished(async () => {
    await made.close();
    await app.close();
  });
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await made.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      }),
    );
    return { status: answer.status, text: await answer.text() };
  };
  return { post, errors };
}

const many = <Item>(item: Item, count = 300_000): Item[] =>
  Array.from({ length: count }, () => item);
const chat = (messages: unknown) => ({ id: 'c', messages });
const user = { id: 'm', role: 'user' };
const members = Object.fromEntries(many(0, 9_000).map((_, i) => [`k${i}`, i]));

const bodies: readonly (readonly [string, string, unknown])[] = [
  ['a chat of messages that are none', '/v1/agents/clerk/chat', chat(many({}, 9_000))],
  ['a chat of more messages than there may be', '/v1/agents/clerk/chat', chat(many({}))],
  ['a chat of numbers', '/v1/agents/clerk/chat', chat(many(0))],
  [
    'a message of parts that are none',
    '/v1/agents/clerk/chat',
    chat([{ ...user, parts: many(0) }]),
  ],
  ['decisions of a link that are none', '/v1/approvals/r/link', { decisions: many(0) }],
  ['answers that are none', '/v1/approvals/answers', { answers: many(0) }],
  ['scopes that are none', '/v1/sessions', { scopes: members }],
  ['permissions that are none', '/v1/sessions', { permissions: many(0) }],
  ['members that a request does not have', '/v1/sessions', members],
];

test.each(bodies)(
  'A9: %s are refused at once, whatever there is of them',
  async (_, path, body) => {
    const { post, errors } = api();
    const { status, text } = await post(path, body);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request' });
    expect(text.length).toBeLessThan(100_000);
    expect(errors).toEqual([]);
  },
);

test(
  'A9: a part of the message of a chat that does not fit is named by its place, and earlier ' +
    'messages are not looked at',
  async () => {
    const { post } = api();
    const refused = await post(
      '/v1/agents/clerk/chat',
      chat([{}, { ...user, parts: [{ text: 'no type' }] }]),
    );
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'invalid_request',
      detail: 'The request does not fit: body.messages.1.parts.0.type: is missing.',
    });
    expect(
      (
        await post(
          '/v1/agents/clerk/chat',
          chat([{}, { ...user, parts: [{ type: 'text', text: 'Hello' }] }]),
        )
      ).status,
    ).toBe(200);
  },
);

test('A9: every list that a request may have says how long it may be', () => {
  const { paths = {}, components } = server(runtime({ app: 'shop' })).openApi() as {
    readonly paths?: Record<string, Record<string, { requestBody?: unknown }>>;
    readonly components?: unknown;
  };
  const lists: string[] = [];
  const look = (schema: unknown, place: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, maxItems, items, $ref, ...rest } = schema as Record<string, unknown>;
    if (typeof $ref === 'string') {
      const name = $ref.split('/').at(-1) as string;
      if (!place.includes(`/${name}`))
        look(
          (components as { schemas: Record<string, unknown> }).schemas[name],
          `${place}/${name}`,
        );
    }
    if (type === 'array' && maxItems === undefined) lists.push(place);
    look(items, `${place}[]`);
    for (const [name, part] of Object.entries(rest))
      if (name !== 'example') look(part, `${place}.${name}`);
  };
  for (const [path, methods] of Object.entries(paths))
    for (const { requestBody } of Object.values(methods)) look(requestBody, path);
  expect(lists).toEqual([]);
});

test(
  'A9: a form to an approval page that is longer than any decision is refused before it is ' +
    'read',
  async () => {
    const app = runtime({ app: 'shop' });
    const made = server(app);
    onTestFinished(() => made.close());
    const body = 'a&'.repeat(500_000);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await made.fetch(
      new Request('http://localhost/approve/x', { method: 'POST', headers, body }),
    );
    expect(answer.status).toBe(413);
  },
);

test.each(['application/json', 'application/JSON', 'Application/Problem+Json; charset=utf-8'])(
  'A9: %s makes no way around the check of the form',
  async (contentType) => {
    const app = runtime({
      app: 'shop',
      runnables: [agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'ok' })) })],
    });
    const made = server(app);
    onTestFinished(async () => {
      await made.close();
      await app.close();
    });
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
    const forged = '{"$blob":"a","hash":"b","size":1,"preview":"c"}';
    for (const data of [deep, forged]) {
      const body = `{"agent":"clerk","input":"hello","data":${data}}`;
      const answer = await made.fetch(
        new Request('http://localhost/v1/runs', {
          method: 'POST',
          headers: { 'content-type': contentType },
          body,
        }),
      );
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    }
  },
);
