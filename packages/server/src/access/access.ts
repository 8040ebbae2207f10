import { isAdjutantError } from 'adjutant';
import type { Context, MiddlewareHandler } from 'hono';
import { approvalPath } from '../http/approval-links.ts';
import type { Api, ServerEnv, ServerParts } from '../http/parts.ts';
import { refuseUnderPressure } from '../pressure/refuse-under-pressure.ts';
import { watched } from '../pressure/watched.ts';
import { addressGroup, clientAddress } from './address.ts';
import { recordRequest } from './audit/record-request.ts';
import { type Authenticate, authenticator } from './authenticate.ts';
import { limitBody } from './body-limit.ts';
import { type Destination, destinationOf } from './guard.ts';
import { allowOrigins } from './headers.ts';
import { anonymous, type Principal } from './principal.ts';
import { type LimitHeaders, RateLimit } from './rate-limit.ts';
import { assertOwnPage } from './sign-in/own-origin.ts';

/**
 * Bytes of the form by which somebody decides. Anybody may send one, and forms take the square of
 * their length to read.
 */
const longestForm = 32_768;

/**
 * Checks of every request before its route: the caller, the caller's permissions and the limits on
 * requests.
 */
export function addAccess(api: Api, parts: ServerParts): void {
  const { cors, limits } = parts.options;
  if (cors !== undefined) api.use('*', allowOrigins(cors));
  api.use('*', recordRequest(parts));
  api.use('*', admit(parts));
  api.use('/v1/*', refuseUnderPressure(parts));
  api.use(`${approvalPath}/*`, limitBody(Math.min(limits.bodyBytes, longestForm)));
  api.use('*', limitBody(limits.bodyBytes));
}

/** Lets a request in, as who it is. */
function admit(parts: ServerParts): MiddlewareHandler<ServerEnv> {
  const authenticate = authenticator(parts);
  const limits = limitsOf(parts);
  return async (context, next) => {
    const destination = destinationOf(context);
    context.set('address', clientAddress(context, parts.options.trustProxy));
    // A route that does not know the caller cannot reveal the caller.
    setCaller(context, parts, anonymous(parts.app.tenant));
    const headers = isPublic(destination)
      ? await limits.ofAnybody(context, destination)
      : await admitCaller(context, parts, authenticate, limits);
    await next();
    for (const [name, value] of Object.entries(headers)) context.res.headers.set(name, value);
  };
}

/** Also what leads nowhere. A route that does not say what it asks is not public. */
function isPublic({ guarded, route }: Destination): boolean {
  return guarded === undefined ? route === undefined : guarded.permission === 'public';
}

async function admitCaller(
  context: Context<ServerEnv>,
  parts: ServerParts,
  authenticate: Authenticate,
  limits: Limits,
): Promise<LimitHeaders> {
  const principal = await authenticate(context).catch(async (error: unknown) => {
    // A valid credential is accepted all the same. Others behind the same address must not be able
    // to keep its caller out.
    if (isAdjutantError(error, 'unauthenticated'))
      await parts.access.countFailure(context.var.address);
    throw error;
  });
  setCaller(context, parts, principal);
  if (principal.signIn !== undefined) assertOwnPage(context, parts.options);
  return (await limits.callers?.count(JSON.stringify([principal.tenant, principal.id]))) ?? {};
}

function setCaller(context: Context<ServerEnv>, { app }: ServerParts, principal: Principal): void {
  context.set('principal', principal);
  context.set('app', principal.tenant === app.tenant ? app : app.tenants.get(principal.tenant));
}

interface Limits {
  readonly callers: RateLimit | undefined;
  ofAnybody(context: Context<ServerEnv>, destination: Destination): Promise<LimitHeaders>;
}

function limitsOf({ options: { limits } }: ServerParts): Limits {
  const perMinute = limits.requestsPerMinute;
  const callers = perMinute === false ? undefined : new RateLimit('caller', perMinute);
  const addresses = perMinute === false ? undefined : new RateLimit('address', perMinute);
  return {
    callers,
    async ofAnybody(context, { route }) {
      if (route === undefined || watched.has(route)) return {};
      return (await addresses?.count(addressGroup(context.var.address))) ?? {};
    },
  };
}
