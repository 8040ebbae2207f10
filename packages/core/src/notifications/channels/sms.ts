import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isAnything, isFunction, isOneOf } from '../../base/options.ts';
import type { Secret } from '../../base/secret.ts';
import type { Channel } from '../channel.ts';
import { plainText } from '../delivery/notice-text.ts';
import {
  type HttpChannelOptions,
  httpChecks,
  httpSettings,
  secretOption,
  urlOption,
} from '../http/options.ts';
import { failureOfReply, postMessage } from '../http/post-message.ts';
import { readObject } from '../http/read-text.ts';
import { addressOf, channelOf, type FindAddress, refused } from '../send-notice.ts';

export interface SmsChannelOptions extends HttpChannelOptions {
  readonly provider: 'twilio' | 'signalwire';
  /** Account SID of Twilio, or the project id of SignalWire. */
  readonly accountSid: string;
  /** Auth token of Twilio, or the API token of SignalWire. */
  readonly authToken: string | Secret;
  /** Number that sends, such as '+15550100'; with Twilio also a messaging service ('MG…'). */
  readonly from: string;
  /** Finds the number of a person, such as '+15550123'. */
  readonly numberOf: FindAddress<string>;
  /**
   * Address of the service. SignalWire has one for each space ('https://example.signalwire.com').
   * @default 'https://api.twilio.com' for Twilio; required for SignalWire
   */
  readonly spaceUrl?: string;
}

/** Most UTF-16 units that both services take. */
const longestText = 1_600;
const phoneNumber = /^\+[1-9]\d{6,14}$/;

/**
 * A channel by text messages of Twilio or SignalWire, which have the same form.
 * @throws InvalidOptionError
 */
export function smsChannel(options: SmsChannelOptions): Channel {
  const { authorization, url, token } = accountOf(options);
  const { from, numberOf } = options;
  const settings = httpSettings('sms', options, [token, authorization.replace('Basic ', '')]);
  const { channel } = settings;
  return channelOf(channel, false, async (notice, context) => {
    const number = await addressOf(channel, notice, numberOf);
    if (!isPhoneNumber(number))
      throw refused(
        channel,
        notice,
        'invalid_recipient',
        'a phone number must have `+`, the country code and digits only',
      );
    const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization };
    const sender = from.startsWith('MG') ? 'MessagingServiceSid' : 'From';
    const form = { To: number, [sender]: from, Body: plainText(notice, longestText) };
    const body = new URLSearchParams(form).toString();
    const reply = await postMessage(notice, { url, headers, body }, context, settings);
    const { sid, code, message } = readObject(reply.text);
    const said = [code, message].filter((part) => part !== undefined && part !== null).join(' ');
    const failure = failureOfReply(notice, reply, settings, said);
    if (failure !== undefined) throw failure;
    return { channel, ...(typeof sid === 'string' ? { messageId: sid } : {}) };
  });
}

interface Account {
  readonly authorization: string;
  readonly url: string;
  readonly token: string;
}

/** @throws InvalidOptionError */
function accountOf(options: SmsChannelOptions): Account {
  checkOptions(
    'smsChannel',
    { ...options, provider: options.provider ?? null, numberOf: options.numberOf ?? null },
    {
      ...httpChecks,
      provider: isOneOf('twilio', 'signalwire'),
      accountSid: isAnything,
      authToken: isAnything,
      from: isAnything,
      numberOf: isFunction,
      spaceUrl: isAnything,
    },
  );
  const { provider, accountSid, from, spaceUrl } = options;
  const token = secretOption('smsChannel', 'authToken', options.authToken);
  if (typeof accountSid !== 'string' || !/^[\w-]+$/.test(accountSid))
    throw invalid('`accountSid` must be the id of the account: letters, digits and hyphens');
  const isService = typeof from === 'string' && /^MG\w+$/.test(from) && provider === 'twilio';
  if (!isPhoneNumber(from) && !isService)
    throw invalid("`from` must be a phone number such as '+15550100'");
  if (provider === 'signalwire' && spaceUrl === undefined)
    throw invalid("`spaceUrl` is missing: SignalWire needs it ('https://example.signalwire.com')");
  const given = urlOption('smsChannel', 'spaceUrl', spaceUrl ?? 'https://api.twilio.com');
  const base = given.replace(/\/+$/, '') + (provider === 'twilio' ? '' : '/api/laml');
  return {
    authorization: `Basic ${Buffer.from(`${accountSid}:${token}`).toString('base64')}`,
    url: `${base}/2010-04-01/Accounts/${accountSid}/Messages.json`,
    token,
  };
}

function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && phoneNumber.test(value);
}

function invalid(reason: string): InvalidOptionError {
  return new InvalidOptionError({ function: 'smsChannel', reason });
}
