import { sha256 } from '../../base/hash.ts';
import { InvalidOptionError } from '../../base/invalid-option.ts';
import { describeValue } from '../../base/options.ts';
import { isWebhookId } from '../../base/webhooks/sign-webhook.ts';
import { type WebhookSecrets, webhookKeys } from '../../base/webhooks/webhook-keys.ts';
import { holdsSignature, webhookSignature } from '../../base/webhooks/webhook-signature.ts';

/** A delivery as it came in. */
export interface IncomingWebhook {
  /** The secret that the sender has too; a list while secrets change, and any of them will do. */
  readonly secret: WebhookSecrets;
  /** Headers of the request; upper and lower case are the same. */
  readonly headers:
    | Pick<Headers, 'get'>
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body exactly as it came, before any reading of JSON. */
  readonly body: Uint8Array;
  /** Now, in milliseconds since 1970, by the clock of the store. */
  readonly now: number;
  /** Difference to `now` that is allowed in both directions. Default 300,000 (5 minutes). */
  readonly toleranceMs?: number | undefined;
  /** Bytes of the largest body. Default 1,048,576 (1 MiB). */
  readonly maxBytes?: number | undefined;
}

/**
 * Reason of a refusal.
 * - `too_large`: the body has more bytes than allowed. Nothing was computed from it.
 * - `missing_header`: `webhook-id`, `webhook-timestamp` or `webhook-signature` is not there.
 * - `malformed_header`: one of them cannot be read, or comes more than once.
 * - `bad_signature`: no signature fits a secret: it is forged, or a secret or the body differs.
 * - `too_old`, `too_new`: the signature fits, and the instant is too far from `now`.
 */
export type WebhookRefusalReason =
  | 'too_large'
  | 'missing_header'
  | 'malformed_header'
  | 'bad_signature'
  | 'too_old'
  | 'too_new';

/** A delivery that is genuine. */
export interface VerifiedWebhook {
  readonly accepted: true;
  /** The delivery's `webhook-id`: two deliveries with the same key are the same message. */
  readonly key: string;
  /** SHA-256 of the body. The same key with another one is a conflict (409). */
  readonly bodyHash: string;
  /** Instant of the attempt in milliseconds since 1970, as the sender signed it. */
  readonly timestamp: number;
}

/** A delivery that is to be turned away. */
export interface RefusedWebhook {
  readonly accepted: false;
  readonly reason: WebhookRefusalReason;
  /** The reason as a sentence. It tells a forger nothing that helps. */
  readonly message: string;
}

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Checks a delivery by Standard Webhooks: its size, then the signature over the raw body, then
 * its age. A refusal is a result and no error, since anybody can cause it.
 * @throws InvalidOptionError for a secret, body or number that cannot be used: that is a fault of
 * the receiver, and must not let a delivery pass
 */
export function verifyWebhook(webhook: IncomingWebhook): VerifiedWebhook | RefusedWebhook {
  const { body, now, toleranceMs = 300_000, maxBytes = 1_048_576 } = webhook;
  const keys = webhookKeys('verifyWebhook', webhook.secret);
  checkReceiver(body, { now, toleranceMs, maxBytes });
  if (body.byteLength > maxBytes)
    return refused('too_large', `The body has more than ${maxBytes} bytes.`);
  const values = names.map((name) => headerOf(webhook.headers, name));
  const missing = names.find((_, index) => !values[index]);
  if (missing !== undefined) return refused('missing_header', `The header ${missing} is missing.`);
  const [id, seconds, signature] = values as [string, string, string];
  const malformed = malformedHeader(id, seconds);
  if (malformed !== undefined)
    return refused('malformed_header', `The header ${malformed} cannot be read.`);
  const given = signature.split(' ').flatMap((one) => /^v1,(.+)$/.exec(one)?.[1] ?? []);
  // Each key is tried, so that the time does not tell which of them fits.
  const fits = keys.map((key) => holdsSignature(given, webhookSignature(key, id, seconds, body)));
  if (!fits.includes(true))
    return refused('bad_signature', 'No signature fits: the secret or the body differs.');
  const timestamp = Number(seconds) * 1000;
  if (timestamp < now - toleranceMs)
    return refused('too_old', `It was sent more than ${toleranceMs} ms ago.`);
  if (timestamp > now + toleranceMs)
    return refused('too_new', `It was sent more than ${toleranceMs} ms in the future.`);
  return { accepted: true, key: id, bodyHash: sha256(body), timestamp };
}

function checkReceiver(body: unknown, numbers: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(numbers).find(([, value]) => !Number.isFinite(value));
  const reason =
    body instanceof Uint8Array
      ? wrong && `\`${wrong[0]}\` must be a number, not ${describeValue(wrong[1])}`
      : `\`body\` must be the bytes as they came, not ${describeValue(body)}`;
  if (reason !== undefined) throw new InvalidOptionError({ function: 'verifyWebhook', reason });
}

function malformedHeader(id: string, seconds: string): string | undefined {
  if (!isWebhookId(id)) return 'webhook-id';
  return /^\d{1,12}$/.test(seconds) ? undefined : 'webhook-timestamp';
}

/** Returns the value of a header; values of one that comes more than once are joined. */
function headerOf(headers: IncomingWebhook['headers'], name: string): string | undefined {
  // Of any realm or package: `instanceof Headers` would not see those.
  if (typeof headers.get === 'function') return headers.get(name)?.trim();
  const values = Object.entries(headers).flatMap(([key, value]) =>
    key.toLowerCase() === name && value !== undefined ? value : [],
  );
  return values.length === 0 ? undefined : values.join(', ').trim();
}

function refused(reason: WebhookRefusalReason, message: string): RefusedWebhook {
  return { accepted: false, reason, message };
}
