import { AdjutantError } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { JwtOptions } from '../options.ts';
import { looksLikeActor } from './actor.ts';
import { roles as knownRoles, type Principal, type Role } from './principal.ts';
import { isReservedTenant } from './system-ledger.ts';

/**
 * Of public and private keys. A shared secret is never taken for one of them, nor the other way
 * round.
 */
const keyPairAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const secretAlgorithms = ['HS256'];
/** Clocks of issuers may differ by this much. */
const toleranceSeconds = 10;
const longestName = 200;

/**
 * The keys that tokens are checked with cannot be fetched: nobody with a token is let in until they
 * can.
 */
export class KeySetUnavailableError extends AdjutantError<string> {
  constructor(data: { jwks: string; reason: string }, options?: ErrorOptions) {
    super(
      'key_set_unavailable',
      `The keys of tokens cannot be fetched from ${data.jwks}: ${data.reason}.`,
      data,
      options,
    );
  }
}

/** Checks JSON Web Tokens, and reads from them who calls. */
export class JwtVerifier {
  readonly #options: JwtOptions;
  readonly #tenant: string;
  readonly #clock: Clock;
  readonly #keys: JWTVerifyGetKey | Uint8Array;

  /** @param tenant of the app, for tokens that name none */
  constructor(
    options: JwtOptions,
    { tenant, clock }: { readonly tenant: string; readonly clock: Clock },
  ) {
    this.#options = options;
    this.#tenant = tenant;
    this.#clock = clock;
    const { jwks, secret } = options;
    this.#keys =
      jwks === undefined ? new TextEncoder().encode(revealed(secret)) : fetchedKeys(jwks);
  }

  /**
   * Returns the caller; `undefined` when the token is not accepted, for any reason.
   * @throws KeySetUnavailableError
   */
  async principal(token: string): Promise<Principal | undefined> {
    const claims = await this.#verified(token);
    return claims === undefined
      ? undefined
      : principalOf(claims, this.#options.claims ?? {}, this.#tenant);
  }

  async #verified(token: string): Promise<JWTPayload | undefined> {
    const { issuer, audience } = this.#options;
    const options = {
      algorithms: this.#keys instanceof Uint8Array ? secretAlgorithms : keyPairAlgorithms,
      currentDate: new Date(this.#clock.now()),
      clockTolerance: toleranceSeconds,
      requiredClaims: ['exp', 'sub'],
      ...defined({ issuer, audience }),
    };
    try {
      // Both overloads take the same arguments; the cast only chooses one for a secret, too.
      const { payload } = await jwtVerify(token, this.#keys as JWTVerifyGetKey, options);
      return payload;
    } catch (error) {
      if (error instanceof KeySetUnavailableError) throw error;
      // The token is wrong, or names a key that nobody may be let in with, such as one that is too
      // weak.
      return undefined;
    }
  }
}

function revealed(secret: JwtOptions['secret']): string {
  return typeof secret === 'object' ? secret.reveal() : (secret ?? '');
}

/** The keys behind an address; when they cannot be had, the error says so. */
function fetchedKeys(jwks: string): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(jwks));
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      if (isFaultOfKey(error)) throw error;
      throw new KeySetUnavailableError({ jwks, reason: reasonOf(error) }, { cause: error });
    }
  };
}

/**
 * As against what goes wrong when the keys are fetched: there is none for the token, or what is
 * there cannot be used as one.
 */
function isFaultOfKey(error: unknown): boolean {
  if (error instanceof DOMException)
    return error.name !== 'TimeoutError' && error.name !== 'AbortError';
  if (!(error instanceof errors.JOSEError)) return false;
  return !(
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC'
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the caller that the claims name; `undefined` when they are not clear. A mistake must
 * never give a caller more permissions.
 */
function principalOf(
  claims: JWTPayload,
  names: NonNullable<JwtOptions['claims']>,
  ownTenant: string,
): Principal | undefined {
  const { sub, exp = 0 } = claims;
  const tenant = names.tenant === false ? ownTenant : claims[names.tenant ?? 'tenant'];
  const roles = textsOf(claims[names.roles ?? 'roles']);
  const user = claims[names.user ?? 'user'];
  const agents = claims[names.agents ?? 'agents'];
  if (!isName(tenant) || isReservedTenant(tenant)) return undefined;
  if (!isName(sub) || looksLikeActor(sub)) return undefined;
  // A claim that was asked for by name binds every token.
  if (user === undefined ? names.user !== undefined : !isName(user) || looksLikeActor(user))
    return undefined;
  if (agents === undefined ? names.agents !== undefined : textsOf(agents) === undefined)
    return undefined;
  const bound = {
    ...(isName(user) ? { user } : {}),
    ...(agents === undefined ? {} : { agents: textsOf(agents) ?? [] }),
  };
  const actor = isName(user) ? (`user:${user}` as const) : (`operator:${sub}` as const);
  const expiresAt = (exp + toleranceSeconds) * 1_000;
  return {
    id: `jwt:${sub}`,
    tenant,
    roles: (roles ?? []).filter(isRole),
    ...bound,
    actor,
    expiresAt,
  };
}

function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= longestName &&
    !/\p{Cc}/u.test(value)
  );
}

function isRole(text: string): text is Role {
  return (knownRoles as readonly string[]).includes(text);
}

/** A list of texts; a single text is a list of one. */
function textsOf(value: unknown): readonly string[] | undefined {
  const list: unknown = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) && list.every((part) => typeof part === 'string') ? list : undefined;
}
