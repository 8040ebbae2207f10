import { isIP } from 'node:net';
import type { Context } from 'hono';

/** What `@hono/node-server` hands over beside a request. */
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
 * Who calls: the other end of the connection or, behind proxies that are trusted, what the
 * outermost of them saw. What was in the header before them was written by the caller, and is not
 * believed.
 * @param trustedProxies how many proxies of one's own are in front of the server
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

/** What an address is counted by: one customer of a network has a whole /64 of IPv6. */
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

/** Whether a name or an address of a URL stands for this machine, whatever a name server says. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host);
}
