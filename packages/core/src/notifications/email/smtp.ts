import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { loadOptionalPackage } from '../../base/optional-package.ts';
import { isAnything, isCount, isNonEmptyText, isOneOf } from '../../base/options.ts';
import { Secret } from '../../base/secret.ts';
import type { EmailMessage } from './message.ts';

/** A server that takes mail. */
export interface SmtpOptions {
  readonly host: string;
  /** @default 465 with `tls: 'implicit'`, else 587 */
  readonly port?: number;
  /**
   * `implicit`: the connection begins with TLS. `starttls`: it goes over to TLS before anything is
   * said, or fails. `none`: no TLS at all.
   * @default 'implicit' on port 465, 'none' for this machine, else 'starttls'
   */
  readonly tls?: 'implicit' | 'starttls' | 'none';
  readonly user?: string;
  readonly password?: string | Secret;
}

/** One sending by SMTP. */
export interface SmtpSending {
  readonly done: Promise<{ readonly messageId?: string | undefined }>;
  /** True when the login is over: from then on the message may be on its way. */
  readonly hasBegun: () => boolean;
}

const thisMachine = new Set(['localhost', '127.0.0.1', '::1']);

/** @throws InvalidOptionError */
export function checkSmtp(smtp: SmtpOptions): void {
  // `null` stands for a missing host, because the check ignores `undefined`.
  checkOptions(
    'emailChannel: smtp',
    { ...smtp, host: smtp?.host ?? null },
    {
      host: isNonEmptyText,
      port: isCount,
      tls: isOneOf('implicit', 'starttls', 'none'),
      user: isNonEmptyText,
      password: isAnything,
    },
  );
  const { user, password } = smtp;
  const isPassword = typeof password === 'string' || password instanceof Secret;
  if ((user === undefined) !== (password === undefined) || (user !== undefined && !isPassword))
    throw new InvalidOptionError({
      function: 'emailChannel: smtp',
      reason: '`user` and `password` belong together: give both as text, or neither',
    });
}

/** Sends a message over a connection of its own. */
export function sendBySmtp(
  smtp: SmtpOptions,
  message: EmailMessage,
  timeoutMs: number,
): SmtpSending {
  let hasBegun = false;
  const send = async (): Promise<{ readonly messageId?: string | undefined }> => {
    const { createTransport } = await loadOptionalPackage(
      'nodemailer',
      'emailChannel({ smtp })',
      () => import('nodemailer'),
    );
    const { PassThrough } = process.getBuiltinModule('node:stream');
    const transport = createTransport(transportOptions(smtp, timeoutMs));
    transport.use('stream', (mail, done) => {
      // The message is read for the first time when the login is over.
      mail.message.transform(() => {
        hasBegun = true;
        return new PassThrough();
      });
      done();
    });
    return transport.sendMail({ ...message, headers: { ...message.headers } });
  };
  return { done: send(), hasBegun: () => hasBegun };
}

function transportOptions({ host, port, tls, user, password }: SmtpOptions, timeoutMs: number) {
  const byPlace = thisMachine.has(host) ? 'none' : 'starttls';
  const mode = tls ?? (port === 465 ? 'implicit' : byPlace);
  const pass = password instanceof Secret ? password.reveal() : password;
  return {
    ...{ host, port: port ?? (mode === 'implicit' ? 465 : 587) },
    ...{ secure: mode === 'implicit', requireTLS: mode === 'starttls', ignoreTLS: mode === 'none' },
    // Sockets end by themselves where the clock of the channel does not end them.
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    ...(user === undefined || pass === undefined ? {} : { auth: { user, pass } }),
  };
}
