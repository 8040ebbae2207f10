import { isNonEmptyText, type OptionCheck } from '../../base/options.ts';
import { Secret } from '../../base/secret.ts';
import type { RequestDecision } from '../../ledger/event.ts';
import { ApprovalTokenError } from './errors.ts';

/** A key for signing tokens. */
export interface ApprovalKey {
  /** Id of the key in tokens; not secret. */
  readonly id: string;
  /** At least 32 bytes. */
  readonly secret: string | Secret;
}

/** The content of a token. */
export interface TokenClaims {
  readonly requestId: string;
  /** Tenant of the request; missing in tokens of older builds. */
  readonly tenant?: string;
  readonly session: string;
  readonly fingerprint: string;
  /** The decisions that the token allows. */
  readonly decisions: readonly RequestDecision[];
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Actor in whose name the token decides; missing when it is the one that uses the token. */
  readonly by?: string;
}

const leastSecretBytes = 32;

function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '');
}

function secretOf({ secret }: ApprovalKey): string {
  return secret instanceof Secret ? secret.reveal() : secret;
}

function keyDefect(key: unknown): string | undefined {
  const { id, secret } = (
    typeof key === 'object' && key !== null ? key : {}
  ) as Partial<ApprovalKey>;
  if (isNonEmptyText(id) !== undefined) return 'an object whose keys have an `id`';
  if (typeof secret !== 'string' && !(secret instanceof Secret))
    return 'an object whose keys have a `secret`: a string or secret(…)';
  const isLong = Buffer.byteLength(secretOf(key as ApprovalKey)) >= leastSecretBytes;
  return isLong
    ? undefined
    : `an object whose keys have secrets of at least ${leastSecretBytes} bytes`;
}

/** The option `approvals` of a runtime. */
export interface ApprovalTokenOptions {
  /** Keys that tokens are signed with: the first one signs, and all of them are accepted. */
  readonly keys: readonly ApprovalKey[];
  /**
   * Address of the page that tokens open, such as `https://agents.example.com/approve`: a link is
   * this address, a slash and the token.
   * @default the page of the server of the app in this process
   */
  readonly url?: string;
}

/** Checks the option `approvals` of a runtime. */
export const isApprovals: OptionCheck = (value) => {
  const { keys, url, ...rest } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as Partial<ApprovalTokenOptions>;
  if (!Array.isArray(keys) || keys.length === 0 || Object.keys(rest).length > 0)
    return 'an object with `keys`: at least one { id, secret }';
  if (url !== undefined && !isWebAddress(url))
    return 'an object whose `url` is an address such as https://agents.example.com/approve';
  const defect = keys.map(keyDefect).find((found) => found !== undefined);
  if (defect !== undefined) return defect;
  const ids = new Set(keys.map(({ id }: ApprovalKey) => id));
  return ids.size === keys.length ? undefined : 'an object whose keys have different ids';
};

const prefix = 'adj1';

// Loaded with the first token: importing the package does not need it.
let crypto: typeof import('node:crypto') | undefined;

function signature(key: ApprovalKey, signed: string): Buffer {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.createHmac('sha256', secretOf(key)).update(signed).digest();
}

/**
 * Signs and reads tokens. The first key signs and all keys are accepted, so that keys can be
 * changed while tokens are in use.
 */
export class TokenSigner {
  readonly #keys: readonly ApprovalKey[];

  /** @param keys at least one */
  constructor(keys: readonly ApprovalKey[]) {
    this.#keys = keys;
  }

  sign(claims: TokenClaims): string {
    const key = this.#keys[0] as ApprovalKey;
    const { requestId, tenant, session, fingerprint, decisions, expiresAt, by = null } = claims;
    const parts = [key.id, requestId, session, fingerprint, decisions, expiresAt, by];
    const payload = JSON.stringify(tenant === undefined ? parts : [...parts, tenant]);
    const signed = `${prefix}.${Buffer.from(payload).toString('base64url')}`;
    return `${signed}.${signature(key, signed).toString('base64url')}`;
  }

  /**
   * Returns the content of a token that was signed here and has not expired.
   * @throws ApprovalTokenError
   */
  read(token: string, now: number): TokenClaims {
    const claims = this.#signed(token);
    const { expiresAt, requestId } = claims;
    if (expiresAt <= now) throw new ApprovalTokenError({ reason: 'expired', requestId });
    return claims;
  }

  /** Tenant of a token that was signed here; `undefined` when it names none, or is not of here. */
  tenantOf(token: string): string | undefined {
    try {
      return this.#signed(token).tenant;
    } catch (error) {
      if (error instanceof ApprovalTokenError) return undefined;
      throw error;
    }
  }

  #signed(token: string): TokenClaims {
    const parts = typeof token === 'string' ? token.split('.') : [];
    const [version, body = '', mac = ''] = parts;
    const found = version === prefix && parts.length === 3 ? parsed(body) : undefined;
    if (found === undefined) throw new ApprovalTokenError({ reason: 'malformed' });
    const { keyId, claims } = found;
    const { requestId } = claims;
    const key = this.#keys.find(({ id }) => id === keyId);
    if (key === undefined) throw new ApprovalTokenError({ reason: 'unknown_key', requestId });
    if (!isSigned(key, `${prefix}.${body}`, mac))
      throw new ApprovalTokenError({ reason: 'forged', requestId });
    return claims;
  }
}

function isSigned(key: ApprovalKey, signed: string, mac: string): boolean {
  const expected = signature(key, signed);
  const given = Buffer.from(mac, 'base64url');
  // Different texts can encode the same bytes; a token has only one valid form.
  if (given.length !== expected.length || given.toString('base64url') !== mac) return false;
  return process.getBuiltinModule('node:crypto').timingSafeEqual(expected, given);
}

function parsed(
  body: string,
): { readonly keyId: string; readonly claims: TokenClaims } | undefined {
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(payload) || payload.length < 7 || payload.length > 8) return undefined;
  const [keyId, requestId, session, fingerprint, decisions, expiresAt, by, tenant] =
    payload as unknown[];
  const texts = [keyId, requestId, session, fingerprint];
  if (
    !texts.every((text) => typeof text === 'string') ||
    !Array.isArray(decisions) ||
    typeof expiresAt !== 'number'
  )
    return undefined;
  const claims = {
    requestId,
    session,
    fingerprint,
    decisions,
    expiresAt,
    ...(typeof by === 'string' ? { by } : {}),
    ...(typeof tenant === 'string' ? { tenant } : {}),
  } as TokenClaims;
  return { keyId: keyId as string, claims };
}
