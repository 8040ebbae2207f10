import { isAnything, isCount, isPositive } from '../../base/options.ts';
import { Secret, secret as secretOf } from '../../base/secret.ts';
import { type WebhookSecrets, webhookSecretFault } from '../../base/webhooks/webhook-keys.ts';
import { checkTriggerOptions, InvalidTriggerError } from '../errors.ts';

/** Fires on signed calls of other systems. Made by `webhook`. */
export interface WebhookTrigger {
  readonly kind: 'webhook';
  /** The secrets; JSON and logs show their names only. */
  readonly secret: readonly Secret[];
  readonly toleranceMs: number;
  readonly maxBytes: number;
}

/** Options of `webhook`. */
export interface WebhookOptions {
  /** The secret that the sender has too; a list while secrets change. */
  readonly secret: WebhookSecrets;
  /** Largest difference to the clock in milliseconds. Default 300,000. */
  readonly toleranceMs?: number | undefined;
  /** Bytes of the largest body. Default 1,048,576. */
  readonly maxBytes?: number | undefined;
}

/**
 * Fires on deliveries that are signed by Standard Webhooks: `webhook({ secret })`.
 * @throws InvalidTriggerError for a secret or a limit that cannot be used
 */
export function webhook(options: WebhookOptions): WebhookTrigger {
  checkTriggerOptions<WebhookOptions>('webhook', options, {
    secret: isAnything,
    toleranceMs: isPositive,
    maxBytes: isCount,
  });
  const { secret, toleranceMs = 300_000, maxBytes = 1_048_576 } = options;
  const fault = webhookSecretFault(secret);
  if (fault !== undefined) throw new InvalidTriggerError({ function: 'webhook', reason: fault });
  const secrets = [secret]
    .flat()
    .map((one) => (one instanceof Secret ? one : secretOf('webhook', one as string)));
  return { kind: 'webhook', secret: secrets, toleranceMs, maxBytes };
}
