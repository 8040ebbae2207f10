import { checkOptions } from '../../base/invalid-option.ts';
import { isAnything } from '../../base/options.ts';
import type { Secret } from '../../base/secret.ts';
import { isWebhookId, signWebhook } from '../../base/webhooks/sign-webhook.ts';
import { type WebhookSecrets, webhookKeys } from '../../base/webhooks/webhook-keys.ts';
import type { Channel } from '../channel.ts';
import {
  type HttpChannelOptions,
  httpChecks,
  httpSettings,
  urlOption,
  urlSecrets,
} from '../http/options.ts';
import { failureOfReply, postMessage } from '../http/post-message.ts';
import { channelOf, refused } from '../send-notice.ts';

export interface WebhookChannelOptions extends HttpChannelOptions {
  /** Address that gets the notices; it may hold a token, so no message shows it. */
  readonly url: string | Secret;
  /** Secret that the receiver checks signatures with; a list while secrets change. */
  readonly secret: WebhookSecrets;
}

/**
 * A channel to a program: it posts `{ type: 'notice', timestamp, data }` in JSON, signed by
 * Standard Webhooks. The `webhook-id` is the idempotency key, so a receiver drops doubles by it.
 * @throws InvalidOptionError
 */
export function webhookChannel(options: WebhookChannelOptions): Channel {
  checkOptions('webhookChannel', options, { ...httpChecks, url: isAnything, secret: isAnything });
  const { secret } = options;
  const url = urlOption('webhookChannel', 'url', options.url);
  webhookKeys('webhookChannel', secret);
  const settings = httpSettings('webhook', options, urlSecrets(url));
  const { channel, clock } = settings;
  return channelOf(channel, true, async (notice, context) => {
    const { idempotencyKey: id } = context;
    if (!isWebhookId(id))
      throw refused(
        ...([channel, notice, 'invalid_key'] as const),
        'the idempotency key must be 1 to 256 visible ASCII characters without a full stop',
      );
    const timestamp = clock.now();
    const sentAt = new Date(timestamp).toISOString();
    const body = JSON.stringify({ type: 'notice', timestamp: sentAt, data: notice });
    const signature = signWebhook({ secret, id, timestamp, body });
    const headers = { 'content-type': 'application/json', ...signature };
    const reply = await postMessage(notice, { url, headers, body }, context, settings);
    const failure = failureOfReply(notice, reply, settings, reply.text);
    if (failure !== undefined) throw failure;
    return { channel, messageId: id };
  });
}
