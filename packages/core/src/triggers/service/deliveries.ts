import { findJsonDefect, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { LedgerStore, ListedRow } from '../../ledger/port.ts';
import type { WebhookTrigger } from '../declarations/webhook.ts';
import { type IncomingWebhook, verifyWebhook } from '../webhooks/verify-webhook.ts';
import { WebhookRefusedError } from './errors.ts';

/** A delivery that is genuine, as it is posted. */
export interface VerifiedDelivery {
  readonly key: string;
  readonly data: JsonObject;
  /** By which another delivery with the same id is found out. */
  readonly row: ListedRow;
}

/**
 * Checks a delivery to a trigger.
 * @throws WebhookRefusedError
 */
export function verifiedDelivery(
  trigger: string,
  { maxBytes, secret, toleranceMs }: WebhookTrigger,
  delivery: Pick<IncomingWebhook, 'headers' | 'body'>,
  now: number,
): VerifiedDelivery {
  const verified = verifyWebhook({ ...delivery, secret, now, toleranceMs, maxBytes });
  if (!verified.accepted) {
    const { message, reason } = verified;
    throw new WebhookRefusedError({ trigger, reason, message });
  }
  const { bodyHash, key: id, timestamp } = verified;
  return {
    key: `webhook:${id}`,
    data: { command: 'webhook', id, timestamp, bodyHash, body: bodyOf(delivery.body) },
    row: deliveryRow(trigger, id, bodyHash, now),
  };
}

/**
 * Checks that a delivery whose id was there before is the same one.
 * @throws WebhookRefusedError
 */
export async function assertSameDelivery(
  trigger: string,
  ledgers: LedgerStore,
  { body, id, kind }: ListedRow,
): Promise<void> {
  const [first] = await ledgers.rows({ kind, id, limit: 1 });
  if (first === undefined || first.body['bodyHash'] === body['bodyHash']) return;
  throw new WebhookRefusedError({
    ...{ trigger, reason: 'conflict' },
    message: 'another delivery with another body had its id.',
  });
}

/** Milliseconds for which a delivery is known by its id. */
const deliveryKeptMs = 7 * 86_400_000;

function deliveryRow(name: string, id: string, bodyHash: string, at: number): ListedRow {
  return {
    ...{ kind: 'webhook_delivery', id: `${name}:${id}`, status: 'accepted', at },
    ...{ expiresAt: at + deliveryKeptMs, body: { bodyHash } },
  };
}

/** The body of a delivery: JSON when it is, else its text. */
function bodyOf(bytes: Uint8Array): JsonValue {
  const text = new TextDecoder().decode(bytes);
  try {
    const value = JSON.parse(text) as JsonValue;
    // A number may be too large for JSON, and a value may have too many levels.
    return findJsonDefect(value) === undefined ? value : text;
  } catch {
    return text;
  }
}
