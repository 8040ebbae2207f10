import { type Clock, systemClock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import {
  isAnything,
  isFunction,
  isNonEmptyText,
  isObject,
  isPositive,
} from '../../base/options.ts';
import type { Channel } from '../channel.ts';
import { isAddress, readMailbox } from '../email/address.ts';
import { emailFailure } from '../email/failure.ts';
import { type EmailMessage, emailMessage } from '../email/message.ts';
import { checkSmtp, type SmtpOptions, type SmtpSending, sendBySmtp } from '../email/smtp.ts';
import { addressOf, channelOf, type FindAddress, refused } from '../send-notice.ts';
import { sendingLimit } from '../sending-limit.ts';

/** Another way to send mail, such as a transport of the package `nodemailer`. */
export interface EmailTransport {
  sendMail(message: EmailMessage): Promise<{ readonly messageId?: string | undefined }>;
}

/** Options of `emailChannel`, with a server or a transport. */
export interface EmailChannelOptions {
  /** Sender: 'Name <notices@example.com>' or the address alone. */
  readonly from: string;
  /** Finds the address of a person. */
  readonly addressOf: FindAddress<string>;
  /** @default 'email' */
  readonly name?: string;
  /** Milliseconds for one attempt. @default 30_000 */
  readonly timeoutMs?: number;
  /** Clock of the time limit. @default the clock of the machine */
  readonly clock?: Clock;
  /** Server that takes the mail, reached by the package `nodemailer`. */
  readonly smtp?: SmtpOptions;
  /** Takes the mail in the place of a server. */
  readonly transport?: EmailTransport;
}

const defaultTimeoutMs = 30_000;

/**
 * A channel by mail, as text and as HTML. Mail may arrive twice: the channel is not idempotent,
 * but doubles have the same `Message-ID`.
 * @throws InvalidOptionError; MissingPackageError by `send`
 */
export function emailChannel(options: EmailChannelOptions): Channel {
  checkEmail(options);
  const { name = 'email', smtp, transport, timeoutMs = defaultTimeoutMs } = options;
  const { clock = systemClock } = options;
  const from = readMailbox(options.from);
  if (from === undefined)
    throw invalid("`from` must be an address, such as 'Name <notices@example.com>'");
  const begin = (message: EmailMessage): SmtpSending =>
    smtp === undefined
      ? { done: sendByTransport(transport as EmailTransport, message), hasBegun: () => true }
      : sendBySmtp(smtp, message, timeoutMs);
  return channelOf(name, false, async (notice, { signal, idempotencyKey }) => {
    const to = await addressOf(name, notice, options.addressOf);
    if (!isAddress(to))
      throw refused(name, notice, 'invalid_recipient', 'the address is none of one mailbox');
    const limit = sendingLimit(clock, timeoutMs, signal);
    const sending = begin(emailMessage(notice, { from, to, idempotencyKey, signal: limit.signal }));
    try {
      const { messageId } = await firstOf(sending.done, limit.signal);
      return { channel: name, ...(typeof messageId === 'string' ? { messageId } : {}) };
    } catch (thrown) {
      if (isAdjutantError(thrown, 'missing_package')) throw thrown;
      const trouble = { channel: name, notice, late: limit.isLate(), isAborted: signal.aborted };
      throw emailFailure(thrown, { ...trouble, hasBegun: sending.hasBegun() });
    } finally {
      limit.end();
    }
  });
}

async function sendByTransport(
  transport: EmailTransport,
  message: EmailMessage,
): ReturnType<EmailTransport['sendMail']> {
  return (await transport.sendMail(message)) ?? {};
}

/** Resolves as the work does, and rejects when the signal is aborted before. */
function firstOf<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** @throws InvalidOptionError */
function checkEmail(options: EmailChannelOptions): void {
  checkOptions(
    'emailChannel',
    { ...options, addressOf: options.addressOf ?? null },
    {
      ...{ name: isNonEmptyText, timeoutMs: isPositive, clock: isObject },
      ...{ from: isAnything, addressOf: isFunction, smtp: isAnything, transport: isAnything },
    },
  );
  const { smtp, transport } = options;
  if ((smtp === undefined) === (transport === undefined))
    throw invalid('give either `smtp` or `transport`');
  if (smtp !== undefined) checkSmtp(smtp);
  if (transport !== undefined && typeof transport?.sendMail !== 'function')
    throw invalid('`transport` must have the method `sendMail`');
}

function invalid(reason: string): InvalidOptionError {
  return new InvalidOptionError({ function: 'emailChannel', reason });
}
