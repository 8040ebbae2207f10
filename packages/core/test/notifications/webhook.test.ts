import { type Notice, type WebhookChannelOptions, webhookChannel } from 'adjutant/notifications';
import { testClock } from 'adjutant/testing';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { answer, httpService, soleRequest } from './http-service.ts';
import { approval, failureOf, sending } from './notices.ts';

const bytes = (letter: string): string => Buffer.from(letter.repeat(32)).toString('base64');
const secret = `whsec_${bytes('a')}`;
const newSecret = `whsec_${bytes('b')}`;

test('a notice is signed as the standard says, under its idempotency key', async () => {
  const service = await httpService(answer(204, ''));
  const channel = webhookChannel({ url: `${service.url}/hooks/notices`, secret });
  expect(channel).toMatchObject({ name: 'webhook', idempotent: true });
  const receipt = await channel.send(approval, sending());
  expect(receipt).toEqual({ channel: 'webhook', messageId: 'key-1' });
  const request = soleRequest(service);
  const headers = request.headers as Record<string, string>;
  expect(headers['webhook-id']).toBe('key-1');
  const read = new Webhook(secret).verify(request.body.toString(), headers);
  expect(read).toEqual({ type: 'notice', timestamp: expect.any(String), data: approval });
});

test('the signature is of the instant of the attempt, the id is always the same', async () => {
  const service = await httpService();
  const clock = testClock(Date.UTC(2026, 10, 27, 12));
  const channel = webhookChannel({ url: service.url, secret, clock });
  await channel.send(approval, sending());
  clock.advance(60_000);
  await channel.send(approval, sending());
  const headers = service.requests.map((request) => request.headers);
  expect(headers.map((each) => each['webhook-id'])).toEqual(['key-1', 'key-1']);
  const [first, second] = headers.map((each) => Number(each['webhook-timestamp']));
  expect((second ?? 0) - (first ?? 0)).toBe(60);
});

test('while secrets change, all of them sign', async () => {
  const service = await httpService();
  await webhookChannel({ url: service.url, secret: [secret, newSecret] }).send(
    ...([approval, sending()] as const),
  );
  const request = soleRequest(service);
  for (const each of [secret, newSecret])
    new Webhook(each).verify(
      ...([request.body.toString(), request.headers as Record<string, string>] as const),
    );
});

test('a key that would move the borders of what is signed is refused', async () => {
  const service = await httpService();
  const channel = webhookChannel({ url: service.url, secret });
  const context = { ...sending(), idempotencyKey: 'a.1700000000' };
  const error = await failureOf(channel.send(approval, context));
  expect(error).toMatchObject({ errorType: 'invalid_key', permanent: true, effect: 'none' });
  expect(service.requests).toHaveLength(0);
});

test('a notice with what JSON does not have is sent as JSON has it', async () => {
  const service = await httpService();
  const notice: Notice = { ...approval, text: 'half \ud83d' };
  await webhookChannel({ url: service.url, secret }).send(notice, sending());
  expect(soleRequest(service).json()['data']).toEqual(notice);
});

test.each([
  [{ url: 'https://example.com' }, '`secret`'],
  [{ url: 'https://example.com', secret: 'hidden' }, '`secret`'],
  [{ url: 'https://example.com', secret: [] }, '`secret`'],
  [{ url: 'hidden', secret }, '`url` must be an address'],
])('the options %j are refused without showing them', (options, said) => {
  const make = () => webhookChannel(options as WebhookChannelOptions);
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  expect(make).toThrow(said);
  expect(make).not.toThrow('hidden');
});
