// Loaded with the first signature, as in hash.ts.
let crypto: typeof import('node:crypto') | undefined;

function loadCrypto(): typeof import('node:crypto') {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto;
}

/** HMAC-SHA-256 of a message of Standard Webhooks, as base64. */
export function webhookSignature(
  key: Uint8Array,
  id: string,
  seconds: string,
  body: string | Uint8Array,
): string {
  const hmac = loadCrypto().createHmac('sha256', key);
  return hmac.update(`${id}.${seconds}.`).update(body).digest('base64');
}

/**
 * True when one of the signatures is the expected one. The time that it takes tells nothing about
 * how much of a wrong one was right.
 */
export function holdsSignature(signatures: readonly string[], expected: string): boolean {
  const { timingSafeEqual } = loadCrypto();
  const wanted = Buffer.from(expected);
  return signatures
    .map((signature) => Buffer.from(signature))
    .filter((given) => given.length === wanted.length)
    .map((given) => timingSafeEqual(given, wanted))
    .includes(true);
}
