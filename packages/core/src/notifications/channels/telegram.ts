import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isAnything, isFunction } from '../../base/options.ts';
import type { Secret } from '../../base/secret.ts';
import type { Channel } from '../channel.ts';
import { plainText, shortened } from '../delivery/notice-text.ts';
import {
  type HttpChannelOptions,
  httpChecks,
  httpSettings,
  secretOption,
  urlOption,
} from '../http/options.ts';
import { failureOfReply, type HttpReply, postMessage } from '../http/post-message.ts';
import { readObject } from '../http/read-text.ts';
import type { Notice } from '../notice.ts';
import { addressOf, channelOf, type FindAddress, refused } from '../send-notice.ts';

export interface TelegramChannelOptions extends HttpChannelOptions {
  /** Token of the bot, as BotFather gives it. */
  readonly token: string | Secret;
  /** Finds the chat of a person with the bot: its number, or `@name` of a public channel. */
  readonly chatOf: FindAddress<number | string>;
  /** Address of the Bot API. @default 'https://api.telegram.org' */
  readonly baseUrl?: string;
}

/** Most UTF-16 units that Telegram takes. */
const limits = { text: 4_096, button: 64 };

/**
 * A channel to chats of Telegram with a bot. Texts are shown as they are; actions are buttons.
 * @throws InvalidOptionError
 */
export function telegramChannel(options: TelegramChannelOptions): Channel {
  const { chatOf, baseUrl = 'https://api.telegram.org' } = options;
  const checks = { ...httpChecks, token: isAnything, chatOf: isFunction, baseUrl: isAnything };
  checkOptions('telegramChannel', { ...options, chatOf: chatOf ?? null }, checks);
  const token = secretOption('telegramChannel', 'token', options.token);
  if (!/^\d+:[\w-]+$/.test(token))
    throw new InvalidOptionError({
      function: 'telegramChannel',
      reason: '`token` must look like "123456:ABC-DEF", as BotFather gives it',
    });
  const base = urlOption('telegramChannel', 'baseUrl', baseUrl).replace(/\/+$/, '');
  const url = `${base}/bot${token}/sendMessage`;
  const settings = httpSettings('telegram', options, [token]);
  return channelOf(settings.channel, false, async (notice, context) => {
    const chat = await addressOf(settings.channel, notice, chatOf);
    if (!isChat(chat))
      throw refused(
        settings.channel,
        notice,
        'invalid_recipient',
        '`chatOf` must return the number of a chat, or `@name`',
      );
    const body = JSON.stringify(telegramMessage(chat, notice));
    const headers = { 'content-type': 'application/json' };
    const reply = await postMessage(notice, { url, headers, body }, context, settings);
    const { description, result, retryAfterMs, isRefused } = readReply(reply);
    const status = isRefused && reply.status < 400 ? 400 : reply.status;
    const answered = { ...reply, status, retryAfterMs: reply.retryAfterMs ?? retryAfterMs };
    const failure = failureOfReply(notice, answered, settings, description);
    if (failure !== undefined) throw failure;
    const { message_id: id } = result;
    return { channel: settings.channel, ...(id === undefined ? {} : { messageId: String(id) }) };
  });
}

function isChat(chat: number | string): boolean {
  return typeof chat === 'number' ? Number.isSafeInteger(chat) : /^(-?\d+|@\w+)$/.test(chat);
}

function telegramMessage(chat: number | string, notice: Notice): object {
  const buttons = (notice.actions ?? [])
    .filter(({ label }) => label.trim() !== '')
    .map(({ label, url }) => [{ text: shortened(label, limits.button), url }]);
  const { actions: _, ...withoutLinks } = notice;
  return {
    chat_id: chat,
    text: plainText(withoutLinks, limits.text),
    // Links of approvals must not be opened for a preview.
    link_preview_options: { is_disabled: true },
    ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: buttons } }),
  };
}

interface TelegramReply {
  readonly description: string;
  readonly result: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;
  readonly isRefused: boolean;
}

/** Reads what the Bot API says in the body beside the status. */
function readReply({ text }: HttpReply): TelegramReply {
  const { ok, description, parameters, result } = readObject(text);
  const seconds = (parameters as { readonly retry_after?: unknown } | undefined)?.retry_after;
  const isNumber = typeof seconds === 'number' && seconds >= 0 && seconds <= 2 ** 31;
  return {
    description: typeof description === 'string' ? description : '',
    result: typeof result === 'object' && result !== null ? { ...result } : {},
    retryAfterMs: isNumber ? seconds * 1_000 : undefined,
    isRefused: ok === false,
  };
}
