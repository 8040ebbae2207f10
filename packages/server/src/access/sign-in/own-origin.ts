import type { Context } from 'hono';
import type { ServerEnv } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import type { ResolvedServerOptions } from '../../options.ts';
import { isLoopbackHost } from '../address.ts';
import { isPageOrigin } from '../local-access.ts';

type OriginOptions = Pick<ResolvedServerOptions, 'publicUrl' | 'trustProxy'>;

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a request that came with the cookie and changes something, unless the server's own page
 * has sent it. Browsers send cookies along whatever page makes the request; the cookie is kept from
 * those of other sites, and this from those of other hosts and ports of the same site.
 * @throws RequestRefusedError `origin_not_allowed` (403)
 */
export function assertOwnPage(context: Context<ServerEnv>, options: OriginOptions): void {
  const { req } = context;
  const isSocket = req.header('upgrade')?.toLowerCase() === 'websocket';
  if (reading.has(req.method) && !isSocket) return;
  if (!isOwnOrigin(req.header('origin'), req, options)) throw otherOrigin();
}

/**
 * Refuses a sign-in from another page, and one from a page that came without encryption, by which
 * the credential was read on its way already, and whose browser would not keep the cookie.
 * @throws RequestRefusedError `origin_not_allowed`, `sign_in_not_secure` (403)
 */
export function assertMaySignIn(context: Context<ServerEnv>, options: OriginOptions): void {
  const { req } = context;
  const origin = req.header('origin');
  if (origin === undefined) return;
  if (!isOwnOrigin(origin, req, options)) throw otherOrigin();
  const { protocol, hostname } = new URL(origin);
  if (protocol === 'https:' || isLoopbackHost(hostname)) return;
  throw new RequestRefusedError(
    403,
    'sign_in_not_secure',
    'This page was not loaded over https, so that browsers would not keep its cookie. Open it ' +
      'by an https:// address, or on the machine of the server.',
  );
}

function isOwnOrigin(
  origin: string | undefined,
  req: Context['req'],
  { publicUrl, trustProxy }: OriginOptions,
): boolean {
  if (origin === undefined || !isPageOrigin(origin)) return false;
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return true;
  // A proxy that ends the encryption may keep that to itself: hosts are compared.
  const { protocol, host } = new URL(origin);
  const own = `${protocol}//${requestHost(req, trustProxy)}`;
  return URL.canParse(own) && host === new URL(own).host;
}

/** The host, with its port, by which the caller knows the server. */
export function requestHost(req: Context['req'], trustProxy: number): string {
  const forwarded = trustProxy > 0 ? req.header('x-forwarded-host')?.split(',')[0]?.trim() : '';
  return forwarded || (req.header('host') ?? new URL(req.url).host);
}

function otherOrigin(): RequestRefusedError {
  return new RequestRefusedError(
    403,
    'origin_not_allowed',
    'A request with the cookie of a sign-in that changes something must come from the page of ' +
      'this server, and its header `Origin` says that it did not. Programs send ' +
      '"Authorization: Bearer <API key or token>".',
  );
}
