import { normalizeIp } from '@nestjs/throttler';
import type { QueueKeys } from './fair-queue';

const OF_IPV4 = /^((\d+\.\d+)\.\d+)(\.\d+)?$/;
const OF_IPV6 = /^([\da-f:]+)\/\d+$/;
/** Bits of an address of IPv6 that all of a neighbourhood, and all of a region, have in common. */
const NEIGHBOURHOOD = 48;
const REGION = 32;
/** The address of a client that has left. */
const UNKNOWN = 'unknown';

/**
 * The neighbourhood of an address: the addresses that one subscriber may own side by side, a /24 of IPv4 or a /48 of
 * IPv6. Neighbourhoods take turns in a queue, so the neighbours of an attacker wait longer. In a full queue, the
 * networks of one neighbourhood displace each other like neighbourhoods do. Where memory is shared instead, e.g. for
 * bodies, one client gets at most half of its neighbourhood's share.
 */
export function neighbourhoodOf(address: string | undefined): string {
  const network = normalizeIp(address ?? UNKNOWN, NEIGHBOURHOOD);
  return OF_IPV4.exec(network)?.[1] ?? network;
}

/**
 * The region of a neighbourhood, as one provider may own it: a /16 of IPv4 or a /32 of IPv6. It only counts if many
 * neighbourhoods wait with one request each.
 * @param neighbourhood a result of {@link neighbourhoodOf}
 */
export function regionOf(neighbourhood: string): string {
  const ofIPv6 = OF_IPV6.exec(neighbourhood);
  if (ofIPv6) return normalizeIp(ofIPv6[1], REGION);
  return OF_IPV4.exec(neighbourhood)?.[2] ?? neighbourhood;
}

/** The queue keys of a client: neighbourhoods take turns, and within each neighbourhood its networks. */
export function queueKeysOf(address: string | undefined): QueueKeys {
  return [neighbourhoodOf(address), networkOf(address)];
}

/**
 * The site of an address of IPv6, a /48 with 65,536 networks that one subscriber may own (RFC 6177). Undefined for IPv4,
 * where neighbours are strangers to each other.
 */
export function siteOf(address: string | undefined): string | undefined {
  const neighbourhood = neighbourhoodOf(address);
  return neighbourhood.includes(':') ? neighbourhood : undefined;
}

/** A site may try as often as so many of its networks. */
export const NETWORKS_OF_SITE = 8;

/** The network of a client: an IPv4 address, or the /64 of IPv6 that belongs to one subscriber. */
export function networkOf(address: string | undefined): string {
  return normalizeIp(address ?? UNKNOWN);
}
