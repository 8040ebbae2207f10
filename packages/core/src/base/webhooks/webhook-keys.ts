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
  const reason = webhookSecretFault(secrets);
  if (reason !== undefined) throw new InvalidOptionError({ function: name, reason });
  return listOf(secrets).map((secret) =>
    Buffer.from(encodedOf(textOf(secret) as string), 'base64'),
  );
}

/** Returns the fault of secrets as a sentence without them; `undefined` when they can be used. */
export function webhookSecretFault(secrets: unknown): string | undefined {
  const list = listOf(secrets);
  if (list.length === 0)
    return '`secret` is an empty list: it needs one secret, or two while they change';
  const fault = list.map((secret) => faultOf(textOf(secret))).find((one) => one !== undefined);
  return fault && `\`secret\` ${fault}: a secret is \`whsec_\` and 24 to 64 bytes as base64`;
}

function listOf(secrets: unknown): readonly unknown[] {
  return Array.isArray(secrets) ? secrets : [secrets];
}

function textOf(secret: unknown): unknown {
  return secret instanceof Secret ? secret.reveal() : secret;
}

function faultOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'is not a string';
  if (/^wh[sp]k_/.test(text)) return 'is a key of another scheme (ed25519)';
  const encoded = encodedOf(text);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return 'is not base64';
  const { length } = Buffer.from(encoded, 'base64');
  return length < 24 || length > 64 ? `has ${length} bytes` : undefined;
}

function encodedOf(text: string): string {
  return text.replace(/^whsec_/, '');
}
