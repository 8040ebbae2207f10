import { randomBytes } from 'node:crypto';
import { memoryStore, type Runtime, runtime } from 'adjutant';
import { cron, signWebhook, trigger, webhook } from 'adjutant/triggers';
import { expect, onTestFinished, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { type ServeOptions, serve } from '../../src/index.ts';
import { garden, worked } from './garden.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = '{ "type": "rain.ended", "mm": 3 }';

interface Delivered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Listens with an app that has a webhook and a trigger that is none; keys are needed elsewhere. */
async function listening(app: Runtime, options: ServeOptions = {}) {
  const served = await serve(app, { port: 0, auth: {}, shutdown: { graceMs: 100 }, ...options });
  onTestFinished(() => served.close({ closeApp: true }));
  const send = async (name: string, request: RequestInit): Promise<Delivered> => {
    const response = await fetch(`${served.url}/v1/triggers/${name}/deliveries`, {
      method: 'POST',
      ...request,
    });
    return { status: response.status, body: (await response.json()) as Delivered['body'] };
  };
  return { url: served.url, send };
}

function gardenWithRain(options: Parameters<typeof garden>[1] = {}, maxBytes = 1_000) {
  return garden(
    (start) => [
      trigger({ name: 'rain', on: webhook({ secret, maxBytes }), start, overlap: 'queue' }),
      trigger({ name: 'noon', on: cron('0 12 * * *'), start }),
    ],
    options,
  );
}

function signed(id: string, text = body, timestamp = Date.now(), key = secret): RequestInit {
  return { headers: { ...signWebhook({ secret: key, id, timestamp, body: text }) }, body: text };
}

test('a signed delivery is accepted without a credential, and fires once', async () => {
  const { app, watered } = gardenWithRain();
  const { send } = await listening(app);
  expect(await send('rain', signed('msg_1'))).toEqual({
    status: 202,
    body: { status: 'accepted', duplicate: false },
  });
  // The sender had no answer, and signs another attempt.
  expect(await send('rain', signed('msg_1', body, Date.now() + 5_000))).toEqual({
    status: 202,
    body: { status: 'accepted', duplicate: true },
  });
  await worked(app);
  expect(watered).toEqual([JSON.parse(body)]);
});

test('the signature is over the bytes as they came, whatever they are', async () => {
  const { app, watered } = gardenWithRain();
  const { send } = await listening(app);
  const headers = { 'content-type': 'application/json' };
  const request = signed('msg_text', 'not { json');
  const other = { ...request, headers: { ...(request.headers as object), ...headers } };
  expect((await send('rain', other)).status).toBe(202);
  await worked(app);
  expect(watered).toEqual(['not { json']);
});

test('another body under the same id is a conflict', async () => {
  const { app, watered } = gardenWithRain();
  const { send } = await listening(app);
  await send('rain', signed('msg_1'));
  expect(await send('rain', signed('msg_1', '{"mm":900}'))).toMatchObject({
    status: 409,
    body: { code: 'webhook_refused', data: { reason: 'conflict' } },
  });
  await worked(app);
  expect(watered).toEqual([JSON.parse(body)]);
});

const minutes = 60_000;
const strangers = `whsec_${randomBytes(32).toString('base64')}`;
const without = (name: string): RequestInit => {
  const { headers, ...request } = signed('msg_x');
  const { [name]: _, ...rest } = headers as Record<string, string>;
  return { ...request, headers: rest };
};
const changed = (name: string, value: string): RequestInit => {
  const { headers, ...request } = signed('msg_x');
  return { ...request, headers: { ...(headers as Record<string, string>), [name]: value } };
};

test.each<[string, () => RequestInit, number, string]>([
  ['no id', () => without('webhook-id'), 400, 'missing_header'],
  ['no time', () => without('webhook-timestamp'), 400, 'missing_header'],
  ['no signature', () => without('webhook-signature'), 400, 'missing_header'],
  ['a time that is none', () => changed('webhook-timestamp', 'noon'), 400, 'malformed_header'],
  ['another secret', () => signed('msg_x', body, Date.now(), strangers), 401, 'bad_signature'],
  ['another body', () => ({ ...signed('msg_x'), body: `${body} ` }), 401, 'bad_signature'],
  ['another id', () => changed('webhook-id', 'msg_y'), 401, 'bad_signature'],
  ['an old one', () => signed('msg_x', body, Date.now() - 10 * minutes), 401, 'too_old'],
  ['one of the future', () => signed('msg_x', body, Date.now() + 10 * minutes), 401, 'too_new'],
  ['a large body', () => signed('msg_x', 'x'.repeat(1_001)), 413, 'too_large'],
])('%s is refused, and nothing fires', async (_what, request, status, reason) => {
  const { app, watered } = gardenWithRain();
  const { send } = await listening(app);
  const answer = await send('rain', request());
  expect(answer).toMatchObject({ status, body: { code: 'webhook_refused', data: { reason } } });
  expect(JSON.stringify(answer.body)).not.toContain(secret);
  await worked(app);
  expect(watered).toEqual([]);
});

test('of a body without a length no more is read than allowed', async () => {
  const { app } = gardenWithRain();
  const { send } = await listening(app);
  const { headers } = signed('msg_x');
  const piece = new Uint8Array(600);
  const pieces = new ReadableStream({
    start: (controller) => {
      for (const _ of [1, 2, 3]) controller.enqueue(piece);
      controller.close();
    },
  });
  const streamed = { headers, body: pieces, duplex: 'half' } as RequestInit;
  expect(await send('rain', streamed)).toMatchObject({
    status: 413,
    body: { data: { reason: 'too_large' } },
  });
});

test('the limit of the server counts too', async () => {
  const { app } = gardenWithRain({}, 10_000);
  const { send } = await listening(app, { limits: { bodyBytes: 500 } });
  expect(await send('rain', signed('msg_x', 'x'.repeat(501)))).toMatchObject({
    status: 413,
    body: { code: 'body_too_large' },
  });
});

test('an unknown name, a trigger that is no webhook and a deleted one look alike', async () => {
  const { app } = gardenWithRain();
  const { send } = await listening(app);
  const bare = runtime({ app: 'bare', store: memoryStore(), recover: 'manual' });
  const { send: sendBare } = await listening(bare);
  await app.triggers.delete('rain');
  await worked(app);
  const answers = [
    await send('none', signed('msg_1')),
    await send('noon', signed('msg_1')),
    await send('rain', signed('msg_1')),
    await sendBare('none', signed('msg_1')),
  ];
  const told = answers.map(({ status, body: { code, detail, data } }, index) => {
    const name = ['none', 'noon', 'rain', 'none'][index] ?? '';
    return { status, code, data, detail: String(detail).replace(`"${name}"`, 'it') };
  });
  expect(told[0]).toEqual({
    status: 404,
    code: 'trigger_not_found',
    data: undefined,
    detail: 'There is no trigger it that takes deliveries.',
  });
  for (const other of told) expect(other).toEqual(told[0]);
});

test('deliveries belong to the tenant of the app, whoever is signed in', async () => {
  const { app } = gardenWithRain();
  const keys = new ApiKeys(app);
  const { credential } = await keys.create({ name: 'x', roles: ['admin'], tenant: 'other' });
  const { send } = await listening(app);
  const { headers, ...request } = signed('msg_1');
  const named = { ...(headers as object), authorization: `Bearer ${credential}` };
  expect((await send('rain', { ...request, headers: named })).status).toBe(202);
  await worked(app);
  expect((await app.triggers.get('rain')).fired).toBe(1);
  expect(await app.tenants.get('other').triggers.list()).toEqual([]);
});

test('a forger cannot take the idempotency key of a sender', async () => {
  const { app } = gardenWithRain();
  const { send } = await listening(app);
  const keyed = (request: RequestInit): RequestInit => ({
    ...request,
    headers: { ...(request.headers as object), 'idempotency-key': 'msg_1' },
  });
  const forged = keyed(signed('msg_1', '{}', Date.now(), strangers));
  expect((await send('rain', forged)).status).toBe(401);
  expect((await send('rain', keyed(signed('msg_1')))).status).toBe(202);
});

test('a paused trigger takes deliveries in, and does not fire', async () => {
  const { app, watered } = gardenWithRain();
  const { send } = await listening(app);
  await app.triggers.pause('rain');
  await worked(app);
  expect((await send('rain', signed('msg_1'))).status).toBe(202);
  await worked(app);
  expect(watered).toEqual([]);
});
