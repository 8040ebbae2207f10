import { checkOptions } from '../../base/invalid-option.ts';
import { isAnything } from '../../base/options.ts';
import type { Secret } from '../../base/secret.ts';
import type { Channel } from '../channel.ts';
import { plainText, shortened, titleLine } from '../delivery/notice-text.ts';
import {
  type HttpChannelOptions,
  httpChecks,
  httpSettings,
  urlOption,
  urlSecrets,
} from '../http/options.ts';
import { failureOfReply, postMessage } from '../http/post-message.ts';
import type { Notice } from '../notice.ts';
import { channelOf } from '../send-notice.ts';

export interface SlackChannelOptions extends HttpChannelOptions {
  /** Address of an incoming webhook. Anybody who has it can post, so it is a secret. */
  readonly webhookUrl: string | Secret;
}

/** Most UTF-16 units that Slack takes. */
const limits = { message: 4_000, header: 150, section: 3_000, button: 75, url: 3_000 };
const mostButtons = 25;

/**
 * A channel to a room of Slack by an incoming webhook. Texts are shown as they are: no mark-up, no
 * mentions.
 * @throws InvalidOptionError
 */
export function slackChannel(options: SlackChannelOptions): Channel {
  checkOptions('slackChannel', options, { ...httpChecks, webhookUrl: isAnything });
  const url = urlOption('slackChannel', 'webhookUrl', options.webhookUrl);
  const settings = httpSettings('slack', options, urlSecrets(url));
  return channelOf(settings.channel, false, async (notice, context) => {
    const body = JSON.stringify(slackMessage(notice));
    const headers = { 'content-type': 'application/json' };
    const reply = await postMessage(notice, { url, headers, body }, context, settings);
    const failure = failureOfReply(notice, reply, settings, reply.text);
    if (failure !== undefined) throw failure;
    return { channel: settings.channel };
  });
}

function slackMessage(notice: Notice): object {
  const title = titleLine(notice);
  const text = notice.text.trim();
  const buttons = (notice.actions ?? [])
    .filter(({ label, url }) => label.trim() !== '' && url.length <= limits.url)
    .slice(0, mostButtons)
    .map(({ label, url }) => ({ type: 'button', text: plain(label, limits.button), url }));
  return {
    // Shown by notifications of the system, and read aloud.
    text: escaped(plainText(notice, limits.message / 2)),
    blocks: [
      ...(title === '' ? [] : [{ type: 'header', text: plain(title, limits.header) }]),
      ...(text === '' ? [] : [{ type: 'section', text: plain(text, limits.section) }]),
      ...(buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }]),
    ],
  };
}

function plain(text: string, length: number): object {
  return { type: 'plain_text', text: shortened(text, length), emoji: false };
}

/** Returns a text in which nothing is a mention, a link or a command. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
