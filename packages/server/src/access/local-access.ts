import type { Context } from 'hono';
import type { ServerEnv } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { InvalidServerError } from '../option-checks.ts';
import type { ServerOptions } from '../options.ts';
import { isLoopbackAddress, isLoopbackHost, socketAddress } from './address.ts';

/**
 * Headers by which proxies say that they are there, or for whom: whoever is behind one is not known
 * to be of this machine.
 */
const proxyHeader = new RegExp(
  `^(?:${[
    ...[
      '(?:x-)?forwarded(?:-.*)?',
      'via',
      'cdn-loop',
      'cf-.*',
      'true-client-ip',
      'x-envoy-.*',
      'x-original-.*',
      'x-appengine-.*',
      'x-azure-.*',
    ],
    '(?:x-|fastly-|fly-|do-)?' +
      '(?:real|client|cluster-client|connecting|remote|user|host|source)-?' +
      '(?:ip|addr|address)',
  ].join('|')})$`,
  'i',
);

/** Of pages: of servers of this machine. What other programs call an origin is no address. */
const pageProtocols: ReadonlySet<string> = new Set(['http:', 'https:']);

/**
 * Lets callers of this machine in, and nobody else, where no credentials are asked for. The address
 * must be this machine's, and so must the name that the caller knows the server by (a page of
 * another site may have made its own name lead here) and the page that calls, if it is one.
 * @throws RequestRefusedError
 */
export function assertLocal(context: Context<ServerEnv>, allowedOrigins: readonly string[]): void {
  const address = socketAddress(context);
  // Without a socket it is the program itself that calls `fetch`, as in tests.
  if (address !== undefined && !isLoopbackAddress(address))
    throw refused('this call comes from another machine');
  const proxy = Object.keys(context.req.header()).find((name) => proxyHeader.test(name));
  if (proxy !== undefined)
    throw refused(`this call came through a proxy (it has the header "${proxy}")`);
  if (!hostsOf(context).every(isLoopbackHost))
    throw refused('this call names the server by a name that is not of this machine');
  const origin = context.req.header('origin');
  if (origin !== undefined && !isOwnOrigin(origin) && !allowedOrigins.includes(origin))
    throw refused('this call comes from a page of another site');
  const site = context.req.header('sec-fetch-site');
  if (origin === undefined && site === 'cross-site')
    throw refused('this call comes from a page of another site');
}

function refused(reason: string): RequestRefusedError {
  return new RequestRefusedError(
    403,
    'only_local',
    `No credentials are set up, so that only this machine may call, and ${reason}. The ` +
      'option `auth` of the server lets others in.',
  );
}

/** The names by which the caller knows the server. */
function hostsOf({ req }: Context<ServerEnv>): readonly string[] {
  const header = req.header('host');
  return [
    new URL(req.url).hostname,
    ...(header === undefined ? [] : [hostnameOf(`http://${header}`)]),
  ];
}

function isOwnOrigin(origin: string): boolean {
  return isPageOrigin(origin) && isLoopbackHost(hostnameOf(origin));
}

/**
 * True when an origin belongs to a page from a server: `app://localhost` and
 * `chrome-extension://localhost` do not.
 */
export function isPageOrigin(origin: string): boolean {
  return URL.canParse(origin) && pageProtocols.has(new URL(origin).protocol);
}

/** The host of a URL; nothing for what is none, such as the origin `null`. */
function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/**
 * A server that asks for no credentials may only be reached from this machine.
 * @throws InvalidServerError when it is to listen elsewhere
 */
export function assertMayListen({ auth }: Pick<ServerOptions, 'auth'>, hostname: string): void {
  if (auth !== undefined || isLoopbackHost(hostname)) return;
  const shown = hostname === '' ? 'all addresses' : hostname;
  throw new InvalidServerError({
    reason:
      'without `auth` everybody who reaches it could do everything, so it may not listen ' +
      `on ${shown}; give it \`auth\`, or listen on 127.0.0.1`,
  });
}
