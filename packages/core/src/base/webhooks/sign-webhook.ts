import { InvalidOptionError } from '../invalid-option.ts';
import { describeValue } from '../options.ts';
import { type WebhookSecrets, webhookKeys } from './webhook-keys.ts';
import { webhookSignature } from './webhook-signature.ts';

/** One attempt to deliver a message by a webhook. */
export interface OutgoingWebhook {
  /** The secret that the receiver has too; a list while secrets change, and all of them sign. */
  readonly secret: WebhookSecrets;
  /** Name of the message: the same for all attempts to deliver it. It has no full stop. */
  readonly id: string;
  /** Instant of this attempt in milliseconds since 1970. */
  readonly timestamp: number;
  /** The body exactly as it is sent. */
  readonly body: string | Uint8Array;
}

/** Headers of a signed webhook. */
export type WebhookHeaders = {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

/**
 * Returns the headers of a webhook by Standard Webhooks (https://www.standardwebhooks.com). The
 * receiver checks them with `verifyWebhook`, or with a library of that standard.
 * @throws InvalidOptionError for a secret, name or instant that cannot be used
 */
export function signWebhook(webhook: OutgoingWebhook): WebhookHeaders {
  const { id, timestamp, body } = webhook;
  const keys = webhookKeys('signWebhook', webhook.secret);
  if (!isWebhookId(id))
    throw refusal(`\`id\` must be 1 to 256 visible characters of ASCII without a full stop`, id);
  if (!Number.isFinite(timestamp) || timestamp < 0)
    throw refusal('`timestamp` must be milliseconds since 1970', timestamp);
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw refusal('`body` must be the text or the bytes that are sent', body);
  const seconds = String(Math.floor(timestamp / 1000));
  const signatures = keys.map((key) => `v1,${webhookSignature(key, id, seconds, body)}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  };
}

/**
 * True for a text that can be a `webhook-id`. A full stop would move the border between the name,
 * the instant and the body, which are signed with full stops between them.
 */
export function isWebhookId(id: unknown): id is string {
  return typeof id === 'string' && /^[!-\-/-~]{1,256}$/.test(id);
}

function refusal(requirement: string, value: unknown): InvalidOptionError {
  const reason = `${requirement}, not ${describeValue(value)}`;
  return new InvalidOptionError({ function: 'signWebhook', reason });
}
