import type { Context } from 'hono';
import type { ServerEnv, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import type { Callers } from './callers.ts';
import { credentialIn } from './credential.ts';
import { assertLocal } from './local-access.ts';
import { localCaller, type Principal } from './principal.ts';
import { cookieIn } from './sign-in/cookie.ts';

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
export function authenticator({ app, options, access }: ServerParts): Authenticate {
  const { callers } = access;
  if (callers === undefined) {
    // A page that everybody may make is no reason to trust it.
    const origins = (options.cors?.origins ?? []).filter((origin) => origin !== '*');
    return async (context) => {
      assertLocal(context, origins);
      return localCaller(app.tenant);
    };
  }
  return async (context) => {
    const principal = await callerOf(context, callers, app);
    if (principal === undefined) throw unauthenticated();
    return principal;
  };
}

/** A credential of its own goes before the cookie, which browsers send with every request. */
async function callerOf(
  context: Context<ServerEnv>,
  callers: Callers,
  app: { readonly app: string },
): Promise<Principal | undefined> {
  const credential = credentialIn(context);
  if (credential !== undefined) return callers.byCredential(credential);
  if (context.req.header('authorization') !== undefined) return undefined;
  const cookie = cookieIn(context, app);
  return cookie === undefined ? undefined : callers.bySignIn(cookie);
}
