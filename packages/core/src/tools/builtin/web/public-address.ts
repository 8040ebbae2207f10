import { isIP } from 'node:net';

type AddressLibrary = typeof import('ipaddr.js');

/**
 * Addresses outside of every reserved range that only work inside a data centre: the metadata and
 * wire server of Azure.
 */
const internalAddresses = new Set(['168.63.129.16']);
/** The only IPv6 addresses that are given out to hosts of the internet. */
const globalUnicast = [0x2000, 0x3fff] as const;

/**
 * True when an address belongs to a host of the public internet. Private, loopback, link-local
 * (with the metadata services of clouds), shared, multicast, reserved and unspecified ones do not.
 * Neither does IPv6 that hides an IPv4 address in itself (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(library: AddressLibrary, address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = library.parse(address);
  if (parsed.range() !== 'unicast' || internalAddresses.has(parsed.toString())) return false;
  const [first = 0] = 'parts' in parsed ? parsed.parts : [globalUnicast[0]];
  return first >= globalUnicast[0] && first <= globalUnicast[1];
}
