import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto';
import { secret } from 'adjutant';
import {
  type Notice,
  type PushSubscription,
  type WebPushChannelOptions,
  webPushChannel,
} from 'adjutant/notifications';
import { testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import webPush from 'web-push';
import { answer, type HttpService, httpService, soleRequest } from './http-service.ts';
import { approval, failureOf, sending } from './notices.ts';

const { publicKey, privateKey } = webPush.generateVAPIDKeys();
const vapid = { subject: 'mailto:ops@example.com', publicKey, privateKey };

interface Browser {
  readonly subscription: PushSubscription;
  /** Reads a message as a browser does (RFC 8291). */
  readonly read: (body: Buffer) => unknown;
}

function browser(name: string, host = 'push.example'): Browser {
  const ecdh = createECDH('prime256v1');
  const own = ecdh.generateKeys();
  const auth = randomBytes(16);
  const keys = { p256dh: own.toString('base64url'), auth: auth.toString('base64url') };
  const derive = (key: Buffer, salt: Buffer, info: string | Buffer, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', key, salt, info, length));
  return {
    subscription: { endpoint: `https://${host}/send/${name}-capability`, keys },
    read: (body) => {
      const salt = body.subarray(0, 16);
      const length = body.readUInt8(20);
      const sender = body.subarray(21, 21 + length);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), own, sender]);
      const key = derive(ecdh.computeSecret(sender), auth, info, 32);
      const content = derive(key, salt, 'Content-Encoding: aes128gcm\0', 16);
      const nonce = derive(key, salt, 'Content-Encoding: nonce\0', 12);
      const sealed = body.subarray(21 + length);
      const cipher = createDecipheriv('aes-128-gcm', content, nonce);
      cipher.setAuthTag(sealed.subarray(-16));
      const padded = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
      return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString());
    },
  };
}

/** A channel whose push services are a server of this machine. */
function channelTo(
  service: HttpService,
  subscriptions: readonly PushSubscription[] | undefined,
  options: Partial<WebPushChannelOptions> = {},
) {
  const redirected: typeof fetch = (url, init) => {
    const { host, pathname } = new URL(String(url));
    return fetch(`${service.url}/${host}${pathname}`, init);
  };
  return webPushChannel({
    ...{ vapid, services: ['push.example'], fetch: redirected },
    ...{ subscriptionsOf: () => subscriptions, ...options },
  });
}

test('a browser can read the notice, and its service knows the sender', async () => {
  const service = await httpService(answer(201, ''));
  const { subscription, read } = browser('laptop');
  const key = secret('vapid', privateKey);
  const channel = channelTo(service, [subscription], { vapid: { ...vapid, privateKey: key } });
  expect(await channel.send(approval, sending())).toEqual({ channel: 'web-push' });
  const { path, headers, body } = soleRequest(service);
  expect(path).toBe('/push.example/send/laptop-capability');
  expect(headers).toMatchObject({
    ...{ 'content-encoding': 'aes128gcm', 'content-type': 'application/octet-stream' },
    ...{ ttl: '86400', urgency: 'normal', topic: expect.stringMatching(/^[\w-]{32}$/) },
  });
  const { title, id, text, actions, about } = approval;
  expect(read(body)).toEqual({ id, tag: headers['topic'], title, text, actions, about });
  const [, token = '', shown] = /^vapid t=(.+), k=(.+)$/.exec(headers.authorization ?? '') ?? [];
  expect(shown).toBe(publicKey);
  const [head, claims = '', signature = ''] = token.split('.');
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    ...{ aud: 'https://push.example', sub: 'mailto:ops@example.com' },
  });
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((each) =>
    each.toString('base64url'),
  );
  const ofSender = createPublicKey({
    ...{ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' } },
  });
  const signed = verify(
    ...(['sha256', Buffer.from(`${head}.${claims}`)] as const),
    { key: ofSender, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(signed).toBe(true);
});

test('what is urgent is pushed at once, and kept no longer than its expiry', async () => {
  const service = await httpService(answer(201, ''));
  const clock = testClock();
  const { subscription } = browser('phone');
  const notice = { ...approval, urgent: true, expiresAt: clock.now() + 90_500 };
  await channelTo(service, [subscription], { clock }).send(notice, sending());
  expect(soleRequest(service).headers).toMatchObject({ urgency: 'high', ttl: '90' });
});

test('another attempt under one key replaces the message that waits at the service', async () => {
  const service = await httpService(answer(201, ''));
  const { subscription } = browser('phone');
  const channel = channelTo(service, [subscription]);
  await channel.send(approval, sending());
  await channel.send(approval, sending());
  await channel.send(approval, { ...sending(), idempotencyKey: 'key-2' });
  const topics = service.requests.map(({ headers }) => headers['topic']);
  expect(topics[0]).toBe(topics[1]);
  expect(topics[2]).not.toBe(topics[1]);
});

test.each<[string, Partial<Notice>]>([
  ['text', { text: '👩‍👩‍👧‍👦"\\'.repeat(5_000) }],
  ['title', { title: 'é'.repeat(9_000) }],
  ['address', { actions: [{ label: 'Go', url: `https://example.com/${'a'.repeat(9_000)}` }] }],
])('a notice with a very long %s fits into a message', async (_, change) => {
  const service = await httpService(answer(201, ''));
  const { subscription, read } = browser('phone');
  await channelTo(service, [subscription]).send({ ...approval, ...change }, sending());
  const { body } = soleRequest(service);
  expect(body.length).toBeLessThanOrEqual(4_096);
  const { text } = read(body) as { readonly text: string };
  expect(text.isWellFormed()).toBe(true);
});

describe('several browsers', () => {
  const [laptop, phone, tablet] = [browser('laptop'), browser('phone'), browser('tablet')] as const;
  const all = [laptop.subscription, phone.subscription, tablet.subscription];
  const byName = (statuses: Readonly<Record<string, number>>) =>
    httpService((response, request) => {
      const name = /\/send\/(\w+)-/.exec(request.path)?.[1] ?? '';
      answer(statuses[name] ?? 500)(response, request);
    });

  test('those that have ended are told, so that they can be removed', async () => {
    const service = await byName({ laptop: 410, phone: 201, tablet: 404 });
    const receipt = await channelTo(service, all).send(approval, sending());
    const gone = [laptop.subscription.endpoint, tablet.subscription.endpoint];
    expect(receipt).toEqual({ channel: 'web-push', gone });
  });

  test('when all have ended the user has no address there', async () => {
    const service = await byName({ laptop: 410, phone: 410, tablet: 410 });
    const error = await failureOf(channelTo(service, all).send(approval, sending()));
    expect(error).toMatchObject({ permanent: true, effect: 'none', errorType: 'no_recipient' });
    expect(error.data['gone']).toEqual(all.map(({ endpoint }) => endpoint));
    expect(error.message).not.toContain('capability');
  });

  test('the failure of all may pass when that of one may', async () => {
    const service = await byName({ laptop: 403, phone: 429, tablet: 410 });
    const error = await failureOf(channelTo(service, all).send(approval, sending()));
    expect(error).toMatchObject({
      ...{ permanent: false, effect: 'none', errorType: 'http_429' },
      gone: [tablet.subscription.endpoint],
    });
  });

  test('one of unknown outcome leaves the whole unknown', async () => {
    const service = await byName({ laptop: 403, phone: 500, tablet: 429 });
    const error = await failureOf(channelTo(service, all).send(approval, sending()));
    expect(error).toMatchObject({ permanent: false, effect: 'unknown' });
  });
});

describe('subscriptions that a page could make up', () => {
  const { subscription } = browser('phone');
  const { endpoint, keys } = subscription;

  test.each([
    ['another host', { endpoint: 'https://intern.example/send', keys }],
    ['a host that ends alike', { endpoint: 'https://evilpush.example/send', keys }],
    ['an address of the network', { endpoint: 'https://169.254.169.254/latest', keys }],
    ['no encryption', { endpoint: endpoint.replace('https', 'http'), keys }],
    ['a password', { endpoint: endpoint.replace('//', '//me:pw@'), keys }],
    ['no address', { endpoint: 'push', keys }],
    ['short keys', { endpoint, keys: { ...keys, auth: 'AAAA' } }],
    ['no keys', { endpoint }],
    ['nothing', null],
  ])('%s', async (_, made) => {
    const service = await httpService();
    const channel = channelTo(service, [made as PushSubscription]);
    const error = await failureOf(channel.send(approval, sending()));
    expect(error).toMatchObject({ permanent: true, errorType: 'invalid_recipient' });
    expect(service.requests).toHaveLength(0);
  });

  test('a key that is no point of the curve', async () => {
    const service = await httpService();
    const p256dh = Buffer.alloc(65, 1).toString('base64url');
    const channel = channelTo(service, [{ endpoint, keys: { ...keys, p256dh } }]);
    const error = await failureOf(channel.send(approval, sending()));
    expect(error).toMatchObject({ permanent: true, errorType: 'invalid_recipient' });
  });

  test.each([[undefined], [[]]])('a user with %s has no address there', async (found) => {
    const error = await failureOf(channelTo(await httpService(), found).send(approval, sending()));
    expect(error).toMatchObject({ permanent: true, errorType: 'no_recipient' });
  });
});

test.each([
  [{ vapid: undefined }, '`vapid.subject`'],
  [{ vapid: { ...vapid, subject: 'ops@example.com' } }, '`vapid.subject`'],
  [{ vapid: { ...vapid, publicKey: 'AAAA' } }, '`vapid.publicKey`'],
  [{ vapid: { ...vapid, privateKey: 'hidden' } }, '`vapid.privateKey`'],
  [{ subscriptionsOf: [] }, '`subscriptionsOf` must be a function'],
  [{ services: 'push.example' }, '`services` must be a list'],
])('the options %j are refused', (options, said) => {
  const make = () =>
    webPushChannel({ vapid, subscriptionsOf: () => [], ...options } as WebPushChannelOptions);
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  expect(make).toThrow(said);
  expect(make).not.toThrow('hidden');
});
