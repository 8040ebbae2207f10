import { isIP } from 'node:net';
import type { Context } from 'hono';

/** Bindings that `@hono/node-server` passes along with a request. */
interface NodeBindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/** Longest part of a header that can be an address. */
const longestAddress = 45;

/**
 * The address at the other end of the connection; `undefined` where the request did not come
 * through a socket of Node.
 */
export function socketAddress(context: Pick<Context, 'env'>): string | undefined {
  return (context.env as NodeBindings | undefined)?.incoming?.socket?.remoteAddress;
}

/**
 * Returns the address of the caller: the other end of the connection or, behind trusted proxies,
 * the address that the outermost proxy saw. Earlier entries of the header were written by the
 * caller and are not believed.
 * @param trustedProxies number of the operator's own proxies in front of the server
 */
export function clientAddress(
  context: Pick<Context, 'env' | 'req'>,
  trustedProxies: number,
): string | undefined {
  const socket = socketAddress(context);
  if (trustedProxies === 0) return socket;
  const forwarded = (context.req.header('x-forwarded-for') ?? '')
    .split(',')
    .map((part) => part.trim());
  const seen = [...forwarded.filter((part) => part !== ''), socket ?? ''];
  const address = seen.at(-1 - trustedProxies) ?? seen[0] ?? '';
  return address.length <= longestAddress && isIP(address) > 0 ? address : socket;
}

const prefixGroups = 4;

/**
 * Returns the group by which an address is counted: one customer of a network has a whole /64 of
 * IPv6.
 */
export function addressGroup(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  if (isIP(address) !== 6 || address.toLowerCase().startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const missing =
    tail === undefined
      ? 0
      : 8 - groups.length - tail.split(':').filter((group) => group !== '').length;
  const whole = [
    ...groups,
    ...Array.from({ length: Math.max(0, missing) }, () => '0'),
    ...(tail ?? '').split(':'),
  ];
  return `${whole.slice(0, prefixGroups).join(':')}::/64`;
}

export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/i.test(address);
}

/** True when a host name or address of a URL means this machine, without asking a name server. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host);
}
