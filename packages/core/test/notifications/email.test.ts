import { createServer } from 'node:net';
import { secret } from 'adjutant';
import {
  type EmailChannelOptions,
  type EmailMessage,
  emailChannel,
  type SmtpOptions,
} from 'adjutant/notifications';
import { testClock } from 'adjutant/testing';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { approval, failureOf, sending } from './notices.ts';
import { type ReceivedMail, smtpService } from './smtp-service.ts';

const from = 'Adjutant <notices@example.com>';
const addressOf = (): string => 'ada@example.com';

function mailTo(port: number, options: Partial<EmailChannelOptions> = {}, smtp = {}) {
  return emailChannel({ smtp: { host: '127.0.0.1', port, ...smtp }, from, addressOf, ...options });
}

/** The parts of a mail, decoded. */
function partsOf({ head, body }: ReceivedMail): string[] {
  const boundary = /boundary="(.+?)"/.exec(head.join('\n'))?.[1] ?? '';
  const parts = body.split(`--${boundary}`).slice(1, -1);
  return parts.map((part) => {
    const [headers = '', ...rest] = part.split('\r\n\r\n');
    const text = rest.join('\r\n\r\n').trim();
    if (/base64/i.test(headers)) return Buffer.from(text, 'base64').toString();
    if (!/quoted-printable/i.test(headers)) return text;
    const bytes = text
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
    return Buffer.from(bytes, 'latin1').toString();
  });
}

test('a notice arrives as text and as HTML, with a message id of its key', async () => {
  const service = await smtpService();
  const receipt = await mailTo(service.port).send(approval, sending());
  const [mail] = service.mails as [ReceivedMail];
  expect(mail).toMatchObject({ from: 'notices@example.com', to: ['ada@example.com'] });
  expect(mail.head).toContain('From: Adjutant <notices@example.com>');
  expect(mail.head).toContain('Subject: May I pay?');
  expect(mail.head).toContain('Auto-Submitted: auto-generated');
  expect(mail.head).toContain(`Message-ID: ${receipt.messageId}`);
  expect(receipt).toEqual({
    channel: 'email',
    messageId: expect.stringMatching(/^<[0-9a-f]{64}@example\.com>$/),
  });
  const [text, html] = partsOf(mail);
  expect(text).toBe(
    'The invoice of Löwe & Söhne <GmbH> is due.\r\n\r\nDecide: https://app.example/approvals/7',
  );
  expect(html).toContain('<p>The invoice of Löwe &amp; Söhne &lt;GmbH&gt; is due.</p>');
  expect(html).toContain('<a href="https://app.example/approvals/7">Decide</a>');
  const again = await mailTo(service.port).send(approval, sending());
  expect(again.messageId).toBe(receipt.messageId);
});

test('nothing of a notice becomes a header or mark-up', async () => {
  const service = await smtpService();
  const title = 'Hello\r\nBcc: eve@example.com\r\n\r\nbody\u0000<b>';
  const actions = [{ label: '"><img src=x>', url: 'https://example.com/?a="><script>' }];
  await mailTo(service.port).send({ ...approval, title, text: '<script>', actions }, sending());
  const [mail] = service.mails as [ReceivedMail];
  expect(mail.to).toEqual(['ada@example.com']);
  expect(mail.head.filter((line) => /^bcc:/i.test(line))).toEqual([]);
  const html = partsOf(mail)[1] ?? '';
  expect(html).not.toMatch(/<script|<img|<b>/);
});

test('text that names files or addresses stays text', async () => {
  const service = await smtpService();
  const text = 'file:///etc/passwd';
  await mailTo(service.port).send({ ...approval, text, actions: [] }, sending());
  expect(partsOf(service.mails[0] as ReceivedMail)[0]).toBe(text);
});

test.each([
  ['two mailboxes', 'ada@example.com, eve@example.com'],
  ['a line break', 'ada@example.com\r\nBcc: eve@example.com'],
  ['a name', 'Ada <ada@example.com>'],
  ['a command', 'ada@example.com> SIZE=1'],
  ['a quoted part', '"a b"@example.com'],
  ['two dots', 'a..b@example.com'],
  ['no host', 'ada@'],
  ['an address of a machine', 'ada@[127.0.0.1]'],
  ['what is no text', 7 as unknown as string],
  ['a very long part', `${'a'.repeat(65)}@example.com`],
])('an address with %s is refused', async (_, address) => {
  const service = await smtpService();
  const channel = mailTo(service.port, { addressOf: () => address });
  const error = await failureOf(channel.send(approval, sending()));
  expect(error).toMatchObject({
    ...{ errorType: 'invalid_recipient', permanent: true, effect: 'none' },
  });
  expect(service.mails).toHaveLength(0);
});

test.each([['a+b_c@mail.example.com'], ["o'hara@example.co.uk"], ['jörg@münchen.example']])(
  'the address %s is taken',
  async (address) => {
    const taken: EmailMessage[] = [];
    const transport = {
      sendMail: async (message: EmailMessage) => {
        taken.push(message);
        return {};
      },
    };
    const channel = emailChannel({ transport, from, addressOf: () => address });
    expect(await channel.send(approval, sending())).toEqual({ channel: 'email' });
    expect(taken[0]?.to).toBe(address);
  },
);

/** Refuses with a reply of SMTP. */
const replying = (code: number) =>
  Object.assign(new Error('no secret here'), { responseCode: code });

describe('what the server says', () => {
  test.each([
    [550, true, 'smtp_550'],
    [450, false, 'smtp_450'],
  ])('a recipient is refused by %i: permanent %s', async (code, permanent, errorType) => {
    const service = await smtpService({ onRcptTo: (_, __, done) => done(replying(code)) });
    const error = await failureOf(mailTo(service.port).send(approval, sending()));
    expect(error).toMatchObject({ permanent, effect: 'none', errorType });
  });

  test.each([
    [554, true],
    [451, false],
  ])(
    'the message is refused by %i: permanent %s, and nothing was sent',
    async (code, permanent) => {
      const service = await smtpService({
        onData: (stream, _, done) => {
          stream.resume();
          stream.on('end', () => done(replying(code)));
        },
      });
      const error = await failureOf(mailTo(service.port).send(approval, sending()));
      expect(error).toMatchObject({ permanent, effect: 'none', errorType: `smtp_${code}` });
    },
  );

  test('a login goes on by its secret, and a refused one is permanent', async () => {
    const service = await smtpService({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ password }, _, done) =>
        password === 'right' ? done(null, { user: 'ada' }) : done(new Error(`not ${password}`)),
    });
    const user = 'mailer';
    const login = (password: SmtpOptions['password']) =>
      mailTo(service.port, {}, { user, password }).send(approval, sending());
    await login(secret('smtp', 'right'));
    expect(service.mails[0]?.user).toBe('ada');
    const error = await failureOf(login('wrong-password'));
    expect(error).toMatchObject({ permanent: true, errorType: 'smtp_login_refused' });
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain('wrong-password');
  });

  test('a connection that breaks off after the message leaves it unknown', async () => {
    const server = createServer((socket) => {
      let received = '';
      socket.write('220 hello\r\n');
      socket.on('data', (data) => {
        received += data;
        const isMessage = received.includes('DATA\r\n');
        // The message ends with a full stop on a line of its own.
        if (received.endsWith('\r\n.\r\n')) socket.destroy();
        else if (!isMessage) socket.write('250 yes\r\n');
        else if (received.endsWith('DATA\r\n')) socket.write('354 go on\r\n');
      });
    });
    const port = await listening(server);
    const error = await failureOf(mailTo(port).send(approval, sending()));
    expect(error).toMatchObject({ permanent: false, effect: 'unknown' });
    server.close();
  });

  test('a connection that breaks off before the message leaves nothing', async () => {
    const server = createServer((socket) => {
      socket.write('220 hello\r\n');
      socket.once('data', () => socket.destroy());
    });
    const port = await listening(server);
    const error = await failureOf(mailTo(port).send(approval, sending()));
    expect(error).toMatchObject({ permanent: false, effect: 'none' });
    server.close();
  });

  test('nobody listens', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const error = await failureOf(mailTo(port).send(approval, sending()));
    expect(error).toMatchObject({
      ...{ permanent: false, effect: 'none', errorType: 'connection_refused' },
    });
  });

  test('a server without TLS gets nothing where TLS is asked for', async () => {
    const service = await smtpService();
    const error = await failureOf(
      mailTo(service.port, {}, { tls: 'starttls', user: 'a', password: 'b' }).send(
        ...[approval, sending()],
      ),
    );
    expect(error).toMatchObject({ effect: 'none' });
    expect(service.mails).toHaveLength(0);
  });

  test('a certificate that nobody signed is refused for good', async () => {
    const service = await smtpService({ disabledCommands: [] });
    const error = await failureOf(
      mailTo(service.port, {}, { tls: 'starttls' }).send(approval, sending()),
    );
    expect(error).toMatchObject({ permanent: true, effect: 'none', errorType: 'tls_error' });
  });
});

describe('time', () => {
  test('after the time limit it is not known whether the mail was sent', async () => {
    const { promise: came, resolve } = Promise.withResolvers<void>();
    const service = await smtpService({
      onData: (stream) => {
        stream.resume();
        stream.on('end', resolve);
      },
    });
    const clock = testClock();
    const failed = failureOf(mailTo(service.port, { clock }).send(approval, sending()));
    await came;
    clock.advance(30_000);
    expect(await failed).toMatchObject({
      ...{ permanent: false, effect: 'unknown', errorType: 'timeout' },
    });
  });

  test('a server that does not greet has got nothing when the time is over', async () => {
    const { promise: came, resolve } = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      resolve();
    });
    const port = await listening(server);
    const clock = testClock();
    const failed = failureOf(mailTo(port, { clock }).send(approval, sending()));
    await came;
    clock.advance(30_000);
    expect(await failed).toMatchObject({ effect: 'none', errorType: 'timeout' });
    server.close();
  });

  test('an abort on the way is passed on', async () => {
    const { promise: came, resolve } = Promise.withResolvers<void>();
    const service = await smtpService({ onData: () => resolve() });
    const controller = new AbortController();
    const failed = failureOf(mailTo(service.port).send(approval, sending(controller.signal)));
    await came;
    controller.abort();
    expect(await failed).toMatchObject({ effect: 'unknown', errorType: 'aborted' });
  });
});

test('a transport of nodemailer takes the place of a server', async () => {
  const service = await smtpService();
  const transport = createTransport({ host: '127.0.0.1', port: service.port, ignoreTLS: true });
  const channel = emailChannel({ name: 'mail', transport, from: 'notices@example.com', addressOf });
  const receipt = await channel.send(approval, sending());
  expect(receipt.channel).toBe('mail');
  expect(service.mails[0]?.head).toContain(`Message-ID: ${receipt.messageId}`);
});

test.each([
  [{}, 'give either `smtp` or `transport`'],
  [{ smtp: { host: 'a' }, transport: { sendMail: async () => ({}) } }, 'give either'],
  [{ smtp: { host: '' } }, '`host` must be'],
  [{ smtp: {} }, '`host` must be'],
  [{ smtp: { host: 'a', pass: 'x' } }, 'there is no option `pass`'],
  [{ smtp: { host: 'a', user: 'me' } }, '`user` and `password` belong together'],
  [{ smtp: { host: 'a', tls: 'maybe' } }, '`tls` must be one of'],
  [{ transport: {} }, '`transport` must have the method `sendMail`'],
  [{ smtp: { host: 'a' }, from: 'Eve\r\nBcc: x <a@example.com>' }, '`from` must be an address'],
  [{ smtp: { host: 'a' }, from: 'nobody' }, '`from` must be an address'],
  [{ smtp: { host: 'a' }, addressOf: 'ada@example.com' }, '`addressOf` must be a function'],
])('the options %j are refused', (options, said) => {
  const make = () => emailChannel({ from, addressOf, ...options } as EmailChannelOptions);
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  expect(make).toThrow(said);
});

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}
