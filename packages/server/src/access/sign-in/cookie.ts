import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { basePath } from '../../dashboard/base-path.ts';
import type { ServerParts } from '../../http/parts.ts';
import { isLoopbackHost } from '../address.ts';
import { requestHost } from './own-origin.ts';

const nameLength = 8;

/**
 * Name of the cookie of an app. Browsers keep cookies by host and not by port: servers of several
 * apps on one machine would overwrite a cookie of one name.
 */
function cookieName(app: string): string {
  return `adjutant_${createHash('sha256').update(app).digest('hex').slice(0, nameLength)}`;
}

/** The value of the cookie of a request. */
export function cookieIn(
  context: Pick<Context, 'req'>,
  { app }: { readonly app: string },
): string | undefined {
  return getCookie(context as Context, cookieName(app));
}

type CookieParts = Pick<ServerParts, 'app' | 'options' | 'clock'>;

/**
 * Header that sets the cookie: scripts cannot read it, other sites cannot send it, and it travels
 * encrypted, but on this machine.
 */
export function setCookie(
  context: Pick<Context, 'req'>,
  parts: CookieParts,
  { value, expiresAt }: { readonly value: string; readonly expiresAt: number },
): string {
  const seconds = Math.max(0, Math.ceil((expiresAt - parts.clock.now()) / 1_000));
  return headerOf(context, parts, value, seconds);
}

/** Header that removes the cookie. */
export function clearCookie(context: Pick<Context, 'req'>, parts: CookieParts): string {
  return headerOf(context, parts, '', 0);
}

function headerOf(
  context: Pick<Context, 'req'>,
  { app, options }: CookieParts,
  value: string,
  seconds: number,
): string {
  const secure = isOnThisMachine(context, options.trustProxy) ? [] : ['Secure'];
  return [
    `${cookieName(app.app)}=${value}`,
    `Path=${basePath(options.publicUrl)}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...secure,
  ].join('; ');
}

/** True when the page is one of this machine without encryption. */
function isOnThisMachine({ req }: Pick<Context, 'req'>, trustProxy: number): boolean {
  const origin = req.header('origin');
  if (origin !== undefined && URL.canParse(origin)) {
    const { protocol, hostname } = new URL(origin);
    return protocol === 'http:' && isLoopbackHost(hostname);
  }
  return isLoopbackHost(new URL(`http://${requestHost(req, trustProxy)}`).hostname);
}
