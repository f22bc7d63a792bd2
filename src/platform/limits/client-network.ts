import { normalizeIp } from '@nestjs/throttler';
import type { LineKeys } from './fair-line';

const OCTETS = /^(\d+\.\d+\.\d+)\.\d+$/;
const REGION = /^[^.:]*[.:][^.:]*/;
const HEXTETS_OF_64 = /^([\da-f:]*?):?:?\/64$/;

/**
 * What counts as one in a line that many wait in: the addresses that one subscriber may have beside each other. Of IPv4 that is
 * a /24, of IPv6 a /48. Whoever is near an attacker waits longer; where the line is full, the networks of a neighbourhood give
 * way to each other as neighbourhoods do. Where memory is shared instead of a line, as for bodies, one client takes at most half
 * of what its neighbourhood has.
 */
export function neighbourhoodOf(address: string | undefined): string {
  const network = networkOf(address);
  const ofIPv4 = OCTETS.exec(network);
  if (ofIPv4) return ofIPv4[1];
  const ofIPv6 = HEXTETS_OF_64.exec(network);
  return ofIPv6 ? ofIPv6[1].split(':').slice(0, 3).join(':') : network;
}

/**
 * What a network is near to on the whole, as one provider may have it: of IPv4 a /16, of IPv6 a /32. Only where many wait from
 * one place each does it count.
 * @param neighbourhood one of {@link neighbourhoodOf}
 */
export function regionOf(neighbourhood: string): string {
  return REGION.exec(neighbourhood)?.[0] ?? neighbourhood;
}

/** How a line is shared among clients: neighbourhoods take turns, and in each of them its networks. */
export function lineKeysOf(address: string | undefined): LineKeys {
  return [neighbourhoodOf(address), networkOf(address)];
}

/** What counts as one client: an IPv4 address, or the /64 network that a single subscriber of IPv6 has to itself. */
export function networkOf(address: string | undefined): string {
  return normalizeIp(address ?? 'unknown');
}
