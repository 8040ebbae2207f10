import { canonicalJson, defined } from 'adjutant/text';
import type { AuthOptions, JwtOptions } from '../options.ts';
import { isKeyCredential, type OpenedKey } from './api-key.ts';
import type { JwtVerifier } from './jwt.ts';
import type { KeyRing } from './key-ring.ts';
import type { Principal } from './principal.ts';
import type { OpenSignIn, SignIns } from './sign-in/sign-ins.ts';

export interface CallerPorts {
  readonly auth: AuthOptions;
  readonly keys: KeyRing;
  readonly signIns: SignIns;
  readonly verifier: JwtVerifier | undefined;
}

/** Finds out who callers are, by their credentials and by the cookies of their sign-ins. */
export class Callers {
  readonly #ports: CallerPorts;

  constructor(ports: CallerPorts) {
    this.#ports = ports;
  }

  /**
   * The caller with an API key or a token; `undefined` when it is not accepted, for any reason.
   * @throws StoreUnavailableError, KeySetUnavailableError
   */
  async byCredential(credential: string): Promise<Principal | undefined> {
    const { auth, keys, verifier } = this.#ports;
    if (!isKeyCredential(credential)) return verifier?.principal(credential);
    if (auth.keys === false) return undefined;
    const opened = await keys.open(credential);
    return opened === undefined ? undefined : principalOfKey(opened);
  }

  /**
   * The caller who signed in; `undefined` when the sign-in, or what it was made with, has ended.
   * @throws StoreUnavailableError
   */
  async bySignIn(value: string): Promise<Principal | undefined> {
    const opened = await this.#ports.signIns.open(value);
    if (opened === undefined) return undefined;
    const principal = await this.#bound(opened);
    if (principal === undefined) return undefined;
    const { id, expiresAt } = opened;
    return {
      ...principal,
      signIn: id,
      expiresAt: Math.min(expiresAt, principal.expiresAt ?? expiresAt),
    };
  }

  async #bound({ binding }: OpenSignIn): Promise<Principal | undefined> {
    if ('token' in binding) return binding.token;
    const { auth, keys } = this.#ports;
    if (auth.keys === false) return undefined;
    const opened = await keys.openBySecret(binding.key);
    return opened === undefined ? undefined : principalOfKey(opened);
  }
}

/** Text of the checks of tokens: one that differs means that others are accepted. */
export function checksOf(jwt: JwtOptions | undefined): string | undefined {
  if (jwt === undefined) return undefined;
  const { jwks, secret, issuer, audience, claims } = jwt;
  const shared = typeof secret === 'object' ? secret.reveal() : secret;
  const names = claims === undefined ? undefined : { ...claims };
  return canonicalJson(defined({ jwks, secret: shared, issuer, audience, claims: names }));
}

function principalOfKey({
  key: { id, tenant, roles, user, agents, expiresAt },
  hash,
}: OpenedKey): Principal {
  const bound = defined({ user, agents });
  // Not the name of the key: a caller that makes keys could otherwise act under the name of another
  // actor.
  const actor = user === undefined ? (`operator:key:${id}` as const) : (`user:${user}` as const);
  return {
    id: `key:${id}`,
    tenant,
    roles,
    ...bound,
    actor,
    expiresAt,
    key: { id, secretHash: hash },
  };
}
