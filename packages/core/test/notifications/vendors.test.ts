import { secret } from 'adjutant';
import {
  consoleChannel,
  type SmsChannelOptions,
  slackChannel,
  smsChannel,
  telegramChannel,
} from 'adjutant/notifications';
import { describe, expect, test } from 'vitest';
import { answer, httpService, soleRequest } from './http-service.ts';
import { approval, failureOf, sending } from './notices.ts';

const long = '👩‍👩‍👧‍👦'.repeat(2_000);

/** True for a text without halves of characters. */
const isWhole = (text: string): boolean => text.isWellFormed() && !text.includes('\ufffd');

describe('console', () => {
  test('prints title, text and links, and shows what controls a terminal', async () => {
    const printed: string[] = [];
    const channel = consoleChannel({ print: (text) => void printed.push(text) });
    await channel.send({ ...approval, text: 'red \u001b[31m alert' }, sending());
    expect(printed).toEqual([
      'To acme/ada: May I pay?\n\nred \\u001b[31m alert\n\n' +
        'Decide: https://app.example/approvals/7',
    ]);
  });
});

describe('Slack', () => {
  test('title, text and buttons are blocks of plain text; no text is a mention', async () => {
    const service = await httpService();
    const channel = slackChannel({ webhookUrl: secret('slack', `${service.url}/services/T/B/x`) });
    await channel.send({ ...approval, text: '<!channel> *a* & b' }, sending());
    const request = soleRequest(service);
    expect(request.path).toBe('/services/T/B/x');
    expect(request.headers['content-type']).toBe('application/json');
    const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
    expect(request.json()).toEqual({
      text:
        'May I pay?\n\n&lt;!channel&gt; *a* &amp; b\n\n' +
        'Decide: https://app.example/approvals/7',
      blocks: [
        { type: 'header', text: plain('May I pay?') },
        { type: 'section', text: plain('<!channel> *a* & b') },
        {
          type: 'actions',
          elements: [
            { type: 'button', text: plain('Decide'), url: 'https://app.example/approvals/7' },
          ],
        },
      ],
    });
  });

  test('texts are cut between characters to what Slack takes', async () => {
    const service = await httpService();
    const label = long.slice(0, 11 * 40);
    const actions = Array.from({ length: 30 }, () => ({ label, url: 'https://example.com' }));
    const channel = slackChannel({ webhookUrl: service.url });
    await channel.send({ ...approval, title: long, text: long, actions }, sending());
    const { text, blocks } = soleRequest(service).json() as {
      text: string;
      blocks: { text: { text: string }; elements: { text: { text: string } }[] }[];
    };
    const [header, section, buttons] = blocks;
    expect(buttons?.elements).toHaveLength(25);
    const cut = [
      [text, 4_000],
      [header?.text.text ?? '', 150],
      [section?.text.text ?? '', 3_000],
      [buttons?.elements[0]?.text.text ?? '', 75],
    ] as const;
    for (const [each, most] of cut) {
      expect(each.length).toBeLessThanOrEqual(most);
      expect(each.length).toBeGreaterThan(most / 3);
      expect(isWhole(each)).toBe(true);
    }
    expect(header?.text.text).toBe(`${'👩‍👩‍👧‍👦'.repeat(13)}…`);
  });

  test('the message of a refusal has the reason of Slack', async () => {
    const service = await httpService(answer(404, 'no_service'));
    const channel = slackChannel({ webhookUrl: service.url });
    const error = await failureOf(channel.send(approval, sending()));
    expect(error.message).toBe(
      'The channel "slack" did not send the notice "n1": the server answered with status 404 ' +
        '(no_service). Another attempt would fail in the same way: mend the cause, or take ' +
        'another channel.',
    );
  });
});

describe('Telegram', () => {
  const token = '123:abc_DEF-1';

  test('a message with buttons goes to the chat of the user', async () => {
    const service = await httpService(answer(200, { ok: true, result: { message_id: 99 } }));
    const asked: unknown[] = [];
    const channel = telegramChannel({
      token: secret('bot', token),
      baseUrl: `${service.url}/`,
      chatOf: async (recipient) => {
        asked.push(recipient);
        return -100123;
      },
    });
    const receipt = await channel.send(approval, sending());
    expect(receipt).toEqual({ channel: 'telegram', messageId: '99' });
    expect(asked).toEqual([{ tenant: 'acme', user: 'ada' }]);
    const request = soleRequest(service);
    expect(request.path).toBe(`/bot${token}/sendMessage`);
    expect(request.json()).toEqual({
      chat_id: -100123,
      text: 'May I pay?\n\nThe invoice of Löwe & Söhne <GmbH> is due.',
      link_preview_options: { is_disabled: true },
      reply_markup: {
        inline_keyboard: [[{ text: 'Decide', url: 'https://app.example/approvals/7' }]],
      },
    });
  });

  test('a refusal in the body counts, with its wait', async () => {
    const description = 'Too Many Requests: retry after 8';
    const body = { ok: false, error_code: 429, description, parameters: { retry_after: 8 } };
    const service = await httpService(answer(429, body));
    const channel = telegramChannel({ token, baseUrl: service.url, chatOf: () => '@news' });
    const error = await failureOf(channel.send(approval, sending()));
    expect(error).toMatchObject({ permanent: false, effect: 'none', retryAfterMs: 8_000 });
    expect(error.message).toContain(description);
  });

  test('"ok: false" under a status of success is a refusal', async () => {
    const service = await httpService(answer(200, { ok: false, description: 'chat not found' }));
    const channel = telegramChannel({ token, baseUrl: service.url, chatOf: () => 1 });
    const error = await failureOf(channel.send(approval, sending()));
    expect(error).toMatchObject({ permanent: true, effect: 'none' });
    expect(error.message).toContain('chat not found');
  });

  test.each([
    [undefined, 'no_recipient', true],
    ['../../other', 'invalid_recipient', true],
    [Number.NaN, 'invalid_recipient', true],
  ])('the chat %s is refused', async (chat, errorType, permanent) => {
    const service = await httpService();
    const channel = telegramChannel({ token, baseUrl: service.url, chatOf: () => chat });
    const error = await failureOf(channel.send(approval, sending()));
    expect(error).toMatchObject({ errorType, permanent, effect: 'none' });
    expect(service.requests).toHaveLength(0);
  });

  test('a search for the chat that fails may succeed later, and tells no details', async () => {
    const chatOf = (): never => {
      throw new RangeError('postgres://me:hidden@db');
    };
    const channel = telegramChannel({ token, chatOf });
    const error = await failureOf(channel.send(approval, sending()));
    expect(error).toMatchObject({
      ...{ errorType: 'address_not_found', permanent: false, effect: 'none' },
    });
    expect(error.message).toContain('RangeError');
    expect(error.message).not.toContain('hidden');
  });

  test('a text of more than 4,096 units is cut between characters', async () => {
    const service = await httpService(answer(200, { ok: true }));
    const channel = telegramChannel({ token, baseUrl: service.url, chatOf: () => 1 });
    await channel.send({ ...approval, title: '', text: long }, sending());
    const { text } = soleRequest(service).json();
    expect(text).toBe(`${'👩‍👩‍👧‍👦'.repeat(372)}…`);
  });

  test.each([['short'], ['123:abc/../x'], ['123:abc?x'], [7], [undefined]])(
    'the token %s is refused without being shown',
    (given) => {
      const make = () => telegramChannel({ token: given as string, chatOf: () => 1 });
      expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
      expect(make).not.toThrow(`${given}`);
    },
  );
});

describe('text messages', () => {
  const options = {
    accountSid: 'AC1',
    authToken: secret('sms', 'token'),
    from: '+15550100',
    numberOf: () => '+15550123',
  };

  test('Twilio gets a form with basic authorization', async () => {
    const service = await httpService(answer(201, { sid: 'SM1', status: 'queued' }));
    const channel = smsChannel({ ...options, provider: 'twilio', spaceUrl: service.url });
    const receipt = await channel.send(approval, sending());
    expect(receipt).toEqual({ channel: 'sms', messageId: 'SM1' });
    const request = soleRequest(service);
    expect(request.path).toBe('/2010-04-01/Accounts/AC1/Messages.json');
    expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded');
    const expected = `Basic ${Buffer.from('AC1:token').toString('base64')}`;
    expect(request.headers.authorization).toBe(expected);
    expect(Object.fromEntries(new URLSearchParams(request.body.toString()))).toEqual({
      To: '+15550123',
      From: '+15550100',
      Body:
        'May I pay?\n\nThe invoice of Löwe & Söhne <GmbH> is due.\n\n' +
        'Decide: https://app.example/approvals/7',
    });
  });

  test('SignalWire gets the same form at its space', async () => {
    const service = await httpService(answer(201, { sid: 'c1' }));
    const channel = smsChannel({
      ...{ ...options, provider: 'signalwire', accountSid: 'b08dacad-1', spaceUrl: service.url },
    });
    expect(await channel.send(approval, sending())).toEqual({ channel: 'sms', messageId: 'c1' });
    const request = soleRequest(service);
    expect(request.path).toBe('/api/laml/2010-04-01/Accounts/b08dacad-1/Messages.json');
  });

  test('a messaging service of Twilio sends in the place of a number', async () => {
    const service = await httpService(answer(201, {}));
    const channel = smsChannel({
      ...{ ...options, provider: 'twilio', from: 'MG77', spaceUrl: service.url },
    });
    await channel.send(approval, sending());
    const form = new URLSearchParams(soleRequest(service).body.toString());
    expect(form.get('MessagingServiceSid')).toBe('MG77');
    expect(form.has('From')).toBe(false);
  });

  test('the message of a refusal has code and reason of the service', async () => {
    const body = { code: 21211, message: "Invalid 'To' Phone Number", status: 400 };
    const service = await httpService(answer(400, body));
    const channel = smsChannel({ ...options, provider: 'twilio', spaceUrl: service.url });
    const error = await failureOf(channel.send(approval, sending()));
    expect(error).toMatchObject({ permanent: true, effect: 'none' });
    expect(error.message).toContain("21211 Invalid 'To' Phone Number");
  });

  test('a long text is cut before the link, between characters', async () => {
    const service = await httpService(answer(201, {}));
    const channel = smsChannel({ ...options, provider: 'twilio', spaceUrl: service.url });
    await channel.send({ ...approval, text: long }, sending());
    const body = new URLSearchParams(soleRequest(service).body.toString()).get('Body') ?? '';
    expect(body.length).toBeLessThanOrEqual(1_600);
    expect(body.length).toBeGreaterThan(1_550);
    expect(isWhole(body)).toBe(true);
    expect(body.endsWith('…\n\nDecide: https://app.example/approvals/7')).toBe(true);
  });

  test.each([['5550123'], ['+1 555 0123'], ['+15550123\nBcc: x'], ['whatsapp:+15550123']])(
    'the number %j is refused',
    async (number) => {
      const channel = smsChannel({
        ...{ ...options, provider: 'twilio', numberOf: () => number },
      });
      const error = await failureOf(channel.send(approval, sending()));
      expect(error).toMatchObject({ errorType: 'invalid_recipient', permanent: true });
    },
  );

  test.each([
    [{ provider: 'vonage' }, '`provider` must be one of'],
    [{ accountSid: '../x' }, '`accountSid`'],
    [{ authToken: '' }, '`authToken`'],
    [{ authToken: 'hidden word' }, '`authToken`'],
    [{ from: 'hello' }, '`from`'],
    [{ provider: 'signalwire', from: 'MG77', spaceUrl: 'https://a.example' }, '`from`'],
    [{ provider: 'signalwire' }, '`spaceUrl` is missing'],
    [{ numberOf: '+15550123' }, '`numberOf` must be a function'],
  ])('the options %j are refused', (change, said) => {
    const make = () =>
      smsChannel({ ...options, provider: 'twilio', ...change } as SmsChannelOptions);
    expect(make).toThrow(said);
    expect(make).not.toThrow('hidden');
  });
});
