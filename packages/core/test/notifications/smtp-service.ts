import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: unknown;
  /** Lines of the head, unfolded. */
  readonly head: readonly string[];
  readonly body: string;
}

export interface SmtpService {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
}

/** Starts a real SMTP server of this machine. */
export async function smtpService(options: SMTPServerOptions = {}): Promise<SmtpService> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: async (stream, session, done) => {
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part as Buffer);
      const [head = '', ...body] = Buffer.concat(parts).toString().split('\r\n\r\n');
      const { mailFrom, rcptTo } = session.envelope;
      mails.push({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        user: session.user,
        head: head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n'),
        body: body.join('\r\n\r\n'),
      });
      done();
    },
    ...options,
  });
  // Connections that a test cuts are no failures of the server.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, mails };
}
