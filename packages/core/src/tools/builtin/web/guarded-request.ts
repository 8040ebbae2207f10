import { lookup as systemLookup } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ToolFailure } from '../../errors.ts';
import { isPublicAddress } from './public-address.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** The hosts that may be asked, and the resolver of their names. */
export interface AddressGuard {
  readonly allowPrivateAddresses: boolean;
  /** Hosts, with or without a port, that may be asked although they are private. */
  readonly allowHosts: ReadonlySet<string>;
  /** @default the system's resolver */
  readonly resolve: ((hostname: string) => Promise<readonly ResolvedAddress[]>) | undefined;
}

async function resolveBySystem(hostname: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(hostname, { all: true });
}

export interface GuardedRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  readonly signal: AbortSignal;
}

/**
 * Sends one request, following no redirect, over a connection of its own. A name is resolved once,
 * all of its addresses are checked, and the connection goes to a checked address. The address that
 * was reached is checked again.
 * @throws ToolFailure when the address is not public
 */
export async function guardedRequest(
  { url, method, signal }: GuardedRequest,
  guard: AddressGuard,
): Promise<IncomingMessage> {
  const library = (await import('ipaddr.js')).default;
  const unguarded =
    guard.allowPrivateAddresses ||
    guard.allowHosts.has(url.host.toLowerCase()) ||
    guard.allowHosts.has(url.hostname.toLowerCase());
  const mayReach = (address: string): boolean => unguarded || isPublicAddress(library, address);
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !mayReach(literal)) throw privateAddress(url.hostname);
  const headers = {
    'user-agent': 'adjutant',
    accept: 'text/html, application/json, text/*;q=0.9, */*;q=0.5',
    'accept-encoding': 'gzip, deflate, br',
  };
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      headers,
      signal,
      agent: false,
      lookup: guardedLookup(guard, mayReach),
    });
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        if (socket.remoteAddress === undefined || !mayReach(socket.remoteAddress))
          request.destroy(privateAddress(url.hostname));
      });
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.end();
  });
}

function guardedLookup(
  guard: AddressGuard,
  mayReach: (address: string) => boolean,
): LookupFunction {
  return (hostname, options, callback) => {
    const answer = async (): Promise<readonly ResolvedAddress[]> => {
      const addresses = await (guard.resolve ?? resolveBySystem)(hostname);
      if (addresses.length === 0 || !addresses.every(({ address }) => mayReach(address)))
        throw privateAddress(hostname);
      return addresses;
    };
    answer().then(
      (addresses) => {
        if (options.all) callback(null, [...addresses]);
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

function privateAddress(hostname: string): ToolFailure {
  return new ToolFailure(`The host "${hostname}" is refused: it is not on the public internet.`, {
    errorType: 'ssrf_blocked',
    status: 'error_blocked',
    alternatives: [
      'Use a public address. Private, local and reserved addresses cannot be fetched.',
    ],
  });
}
