import { createServer } from 'node:net';
import { isAdjutantError } from 'adjutant';
import {
  type Channel,
  type HttpChannelOptions,
  type Notice,
  slackChannel,
  smsChannel,
  telegramChannel,
  webhookChannel,
} from 'adjutant/notifications';
import { testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { answer, httpService } from './http-service.ts';
import { approval, failureOf, sending } from './notices.ts';

const token = '123456:secret-of-the-bot';

interface Kind {
  readonly kind: string;
  readonly secret: string;
  readonly make: (url: string, options?: HttpChannelOptions) => Channel;
}

const kinds: readonly Kind[] = [
  {
    kind: 'webhook',
    secret: 'T00-secret',
    make: (url, options) =>
      webhookChannel({
        ...{ ...options, url: `${url}/hooks/T00-secret`, secret: 'whsec_'.padEnd(50, 'A') },
      }),
  },
  {
    kind: 'slack',
    secret: 'T00-secret',
    make: (url, options) =>
      slackChannel({ ...options, webhookUrl: `${url}/services/T00-secret?key=T00-secret` }),
  },
  {
    kind: 'telegram',
    secret: token,
    make: (url, options) => telegramChannel({ ...options, token, baseUrl: url, chatOf: () => 42 }),
  },
  {
    kind: 'sms',
    secret: 'auth-token',
    make: (url, options) =>
      smsChannel({
        ...{ ...options, provider: 'twilio', accountSid: 'AC1', authToken: 'auth-token' },
        ...{ from: '+15550100', numberOf: () => '+15550123', spaceUrl: url },
      }),
  },
];

describe.each(kinds)('every channel by HTTP: $kind', ({ kind, secret, make }) => {
  test('a notice that the service took gives a receipt', async () => {
    const service = await httpService(answer(200, { ok: true }));
    const receipt = await make(service.url).send(approval, sending());
    expect(receipt).toMatchObject({ channel: kind });
    expect(service.requests).toHaveLength(1);
    expect(service.requests[0]?.method).toBe('POST');
  });

  test.each([
    [400, true, 'none'],
    [401, true, 'none'],
    [404, true, 'none'],
    [410, true, 'none'],
    [409, true, 'unknown'],
    [408, false, 'unknown'],
    [429, false, 'none'],
    [500, false, 'unknown'],
    [503, false, 'unknown'],
  ] as const)('status %i: permanent %s, effect %s', async (status, permanent, effect) => {
    const service = await httpService(answer(status, 'invalid_payload'));
    const error = await failureOf(make(service.url).send(approval, sending()));
    expect(isAdjutantError(error, 'notification_failed')).toBe(true);
    expect(error).toMatchObject({ permanent, effect, errorType: `http_${status}` });
    expect(error.data).toMatchObject({ channel: kind, notice: 'n1', permanent, effect });
    expect(service.requests).toHaveLength(1);
  });

  test('the wait that the service asks for is told', async () => {
    const service = await httpService(answer(429, 'slow', { 'retry-after': '17' }));
    const error = await failureOf(make(service.url).send(approval, sending()));
    expect(error.retryAfterMs).toBe(17_000);
    expect(error.data['retryAfterMs']).toBe(17_000);
  });

  test('a wait up to a date is told by the clock', async () => {
    const clock = testClock(Date.UTC(2026, 10, 27, 12));
    const at = new Date(clock.now() + 90_000).toUTCString();
    const service = await httpService(answer(503, '', { 'retry-after': at }));
    const error = await failureOf(make(service.url, { clock }).send(approval, sending()));
    expect(error.retryAfterMs).toBe(90_000);
  });

  test('a redirect is not followed', async () => {
    const other = await httpService();
    const service = await httpService(answer(307, '', { location: other.url }));
    const error = await failureOf(make(service.url).send(approval, sending()));
    expect(error).toMatchObject({ permanent: true, errorType: 'redirect_refused' });
    expect(other.requests).toHaveLength(0);
  });

  test('after the time limit it is not known whether the notice was sent', async () => {
    const clock = testClock();
    const service = await httpService(() => undefined);
    const came = service.next();
    const failed = failureOf(
      make(service.url, { clock, timeoutMs: 5_000 }).send(approval, sending()),
    );
    await came;
    clock.advance(5_000);
    const error = await failed;
    expect(error).toMatchObject({ permanent: false, effect: 'unknown', errorType: 'timeout' });
    expect(error.message).toContain('5000 ms');
  });

  test('a body that does not end is not waited for after the status has said success', async () => {
    const clock = testClock();
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const service = await httpService((response) => {
      response.writeHead(200);
      response.write('{', () => resolve());
    });
    const sent = make(service.url, { clock, timeoutMs: 5_000 }).send(approval, sending());
    await begun;
    // The head may still be on its way: the limit may pass before it, or while the body is read.
    clock.advance(5_000);
    const outcome = await sent.catch((error: unknown) => error);
    expect([
      expect.objectContaining({ channel: kind }),
      expect.objectContaining({ effect: 'unknown' }),
    ]).toContainEqual(outcome);
  });

  test('a body of a hundred megabytes is not read', async () => {
    let written = 0;
    const part = Buffer.alloc(65_536, 'x');
    const service = await httpService((response) => {
      response.writeHead(500);
      const more = (): void => {
        while (written < 100_000_000 && response.writable) {
          written += part.length;
          if (!response.write(part)) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    const error = await failureOf(make(service.url).send(approval, sending()));
    expect(error.errorType).toBe('http_500');
    expect(error.message.length).toBeLessThan(600);
    expect(written).toBeLessThan(50_000_000);
  });

  test('an aborted notice is not sent', async () => {
    const service = await httpService();
    const error = await failureOf(make(service.url).send(approval, sending(AbortSignal.abort())));
    expect(error).toMatchObject({ permanent: false, effect: 'none', errorType: 'aborted' });
    expect(service.requests).toHaveLength(0);
  });

  test('a notice that is aborted on its way may have been sent', async () => {
    const service = await httpService(() => undefined);
    const came = service.next();
    const controller = new AbortController();
    const failed = failureOf(make(service.url).send(approval, sending(controller.signal)));
    await came;
    controller.abort();
    expect(await failed).toMatchObject({ effect: 'unknown', errorType: 'aborted' });
  });

  test('nobody listens: nothing was sent, and another attempt may succeed', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    await new Promise((resolve) => server.close(resolve));
    const error = await failureOf(make(`http://127.0.0.1:${port}`).send(approval, sending()));
    expect(error).toMatchObject({
      ...{ permanent: false, effect: 'none', errorType: 'connection_refused' },
    });
  });

  test('no error shows a secret, whatever the service answers', async () => {
    const service = await httpService((response, { path, headers }) => {
      response.writeHead(400);
      const echo = `${path} ${headers.authorization} ${secret}\u001b[2J`;
      response.end(JSON.stringify({ ok: false, description: echo, message: echo }));
    });
    const failed = await failureOf(make(service.url).send(approval, sending()));
    const closed = await failureOf(
      make('http://127.0.0.1:1', { fetch: rejecting }).send(approval, sending()),
    );
    for (const error of [failed, closed]) {
      const shown = `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(encodeURIComponent(secret));
      expect(shown).not.toContain(Buffer.from(`AC1:${secret}`).toString('base64'));
      expect(shown).not.toContain('\u001b');
    }
    expect(failed.message).toContain('[secret]');
  });

  test.each([
    [{ title: 7 }, '`title`'],
    [{ user: '' }, '`user`'],
    [{ title: ' ', text: '\n' }, 'no text'],
    [{ actions: [{ label: 'Go', url: 'javascript:alert(1)' }] }, '`actions`'],
    [{ actions: 'https://example.com' }, '`actions`'],
  ])('the notice %j is refused before it is sent', async (change, said) => {
    const service = await httpService();
    const notice = { ...approval, ...change } as Notice;
    const error = await failureOf(make(service.url).send(notice, sending()));
    expect(error).toMatchObject({
      ...{ permanent: true, effect: 'none', errorType: 'invalid_notice' },
    });
    expect(error.message).toContain(said);
    expect(service.requests).toHaveLength(0);
  });

  test('options that do not fit are refused', () => {
    const wrong = (options: object) => () => make('https://example.com', options);
    expect(wrong({ timeout: 5 })).toThrow(/it is called `timeoutMs` now/);
    expect(wrong({ timeoutMs: 0 })).toThrow(/`timeoutMs` must be/);
    expect(wrong({ fetch: 'fetch' })).toThrow(/`fetch` must be/);
    expect(wrong({ name: '' })).toThrow(/`name` must be/);
    expect(() => make('not an address')).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
    expect(() => make('ftp://example.com')).toThrow(/must be an address/);
    expect(() => make('https://me:hidden@example.com')).toThrow(/without a password/);
    expect(() => make('https://me:hidden@example.com')).not.toThrow(/hidden/);
  });
});

/** Fails as `fetch` does for addresses that it cannot read: its message shows them. */
const rejecting: typeof fetch = async (url) => {
  throw new TypeError(`Failed to parse URL from ${String(url)}`, {
    cause: new Error(`Invalid URL ${String(url)}`),
  });
};

test('two channels of a kind have names of their own', async () => {
  const service = await httpService();
  const channel = slackChannel({ name: 'operators', webhookUrl: service.url });
  expect(channel).toMatchObject({ name: 'operators', idempotent: false });
  expect(await channel.send(approval, sending())).toEqual({ channel: 'operators' });
});

test('a failure is classified by effects as the channel says', async () => {
  const { classifyThrown } = await import('../../src/tools/classify.ts');
  const service = await httpService(answer(429, '', { 'retry-after': '3' }));
  const channel = slackChannel({ webhookUrl: service.url });
  const refused = classifyThrown(await failureOf(channel.send(approval, sending())));
  expect(refused).toMatchObject({ effect: 'none', retryAfterMs: 3_000 });
  expect(refused.result).toMatchObject({ status: 'error_transient', errorType: 'http_429' });
});
