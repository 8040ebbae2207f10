import { InvalidOptionError } from '../invalid-option.ts';
import { Secret } from '../secret.ts';

/** A secret of Standard Webhooks: `whsec_` and 24 to 64 bytes as base64. */
export type WebhookSecret = string | Secret;

/** One secret, or while secrets change the old and the new one. */
export type WebhookSecrets = WebhookSecret | readonly WebhookSecret[];

/**
 * Returns the keys of the secrets.
 * @param name the function that was given the secrets, for the message
 * @throws InvalidOptionError for what is no secret of Standard Webhooks. It never shows the secret.
 */
export function webhookKeys(name: string, secrets: WebhookSecrets): readonly Uint8Array[] {
  const list: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  if (list.length === 0)
    throw new InvalidOptionError({
      function: name,
      reason: '`secret` is an empty list: it needs one secret, or two while they change',
    });
  return list.map((secret) => keyOf(name, secret));
}

function keyOf(name: string, secret: unknown): Uint8Array {
  const text = secret instanceof Secret ? secret.reveal() : secret;
  const fault = typeof text === 'string' ? faultOf(text) : 'is not a string';
  if (fault !== undefined)
    throw new InvalidOptionError({
      function: name,
      reason: `\`secret\` ${fault}: a secret is \`whsec_\` and 24 to 64 bytes as base64`,
    });
  return Buffer.from(encodedOf(text as string), 'base64');
}

function faultOf(text: string): string | undefined {
  if (/^wh[sp]k_/.test(text)) return 'is a key of another scheme (ed25519)';
  const encoded = encodedOf(text);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return 'is not base64';
  const { length } = Buffer.from(encoded, 'base64');
  return length < 24 || length > 64 ? `has ${length} bytes` : undefined;
}

function encodedOf(text: string): string {
  return text.replace(/^whsec_/, '');
}
