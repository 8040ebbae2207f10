import { defined } from 'adjutant/text';
import type { Context } from 'hono';
import type { ServerEnv, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import type { AuthOptions } from '../options.ts';
import { isKeyCredential, type OpenedKey } from './api-key.ts';
import { credentialIn } from './credential.ts';
import { JwtVerifier } from './jwt.ts';
import type { KeyRing } from './key-ring.ts';
import { assertLocal } from './local-access.ts';
import { localCaller, type Principal } from './principal.ts';

/** Finds out who calls. @throws RequestRefusedError */
export type Authenticate = (context: Context<ServerEnv>) => Promise<Principal>;

/** The one answer to everybody who could not prove who they are: it does not say what was wrong. */
export function unauthenticated(): RequestRefusedError {
  return new RequestRefusedError(
    401,
    'unauthenticated',
    'This needs a valid credential: send "Authorization: Bearer <API key or token>".',
    {},
    { 'www-authenticate': 'Bearer realm="adjutant"' },
  );
}

/** Returns the function that identifies callers by their credentials. */
export function authenticator({ app, options, clock, access }: ServerParts): Authenticate {
  const { auth, cors } = options;
  if (auth === undefined) {
    // A page that everybody may make is no reason to trust it.
    const origins = (cors?.origins ?? []).filter((origin) => origin !== '*');
    return async (context) => {
      assertLocal(context, origins);
      return localCaller(app.tenant);
    };
  }
  const verifier =
    auth.jwt === undefined ? undefined : new JwtVerifier(auth.jwt, { tenant: app.tenant, clock });
  return async (context) => {
    const credential = credentialIn(context);
    const principal =
      credential === undefined
        ? undefined
        : await principalBy(credential, auth, access.keys, verifier);
    if (principal === undefined) throw unauthenticated();
    return principal;
  };
}

async function principalBy(
  credential: string,
  auth: AuthOptions,
  ring: KeyRing,
  verifier: JwtVerifier | undefined,
): Promise<Principal | undefined> {
  if (!isKeyCredential(credential)) return verifier?.principal(credential);
  if (auth.keys === false) return undefined;
  const opened = await ring.open(credential);
  return opened === undefined ? undefined : principalOfKey(opened);
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
