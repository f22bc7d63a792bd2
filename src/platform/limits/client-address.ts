import { isIP, isIPv4 } from 'node:net';

/** The greatest number of characters: longer than any address with zone, brackets and port. */
const MAX_LENGTH = 100;
const IPV4_MAPPED = '::ffff:';

/**
 * The IP address in a text such as a member of `X-Forwarded-For`, where some proxies add a port: `192.0.2.1:5001`,
 * `[2001:db8::1]:443`. Undefined for anything else, e.g. `unknown` or `_hidden` (RFC 7239, 6).
 */
export function addressIn(text: string | undefined): string | undefined {
  if (text === undefined || text.length > MAX_LENGTH) return undefined;
  const [, bracketed, beforePort] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const [address] = (bracketed ?? beforePort ?? text).split('%');
  if (isIP(address) === 0) return undefined;
  // A dual-stack socket writes an IPv4 address as an IPv6 address.
  const mapped = address.slice(IPV4_MAPPED.length);
  return address.toLowerCase().startsWith(IPV4_MAPPED) && isIPv4(mapped) ? mapped : address;
}
