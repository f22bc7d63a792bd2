/** The greatest length of a URL that every browser and proxy takes. */
export const MAX_WEB_ADDRESS = 2_048;
/** The parser of the WHATWG takes less: it drops newlines, and reads `https:host` and `\` as it thinks they were meant. */
const FORM = /^https?:\/\/[^\s\p{Cc}\p{Cs}\\/?#@]+(?:[/?#][^\s\p{Cc}\p{Cs}\\]*)?$/iu;
/** What the parser leaves in a path or query and RFC 3986 doesn't allow: also a `%` that begins no byte. */
const NOT_IN_URI = /[[\]^`{|}]|%(?![\dA-F]{2})/gi;

/**
 * A URL of http or https as RFC 3986 writes it: the host in small letters and Punycode, other characters than ASCII in
 * percent-encoded UTF-8. Undefined for a text that is none, is longer than allowed, or has a user name or a password.
 */
export function parseWebAddress(text: string): string | undefined {
  if (text.length > MAX_WEB_ADDRESS || !FORM.test(text)) return undefined;
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, search, hash } = new URL(text);
  const fragment = hash && `#${hash.slice(1).replaceAll('#', '%23')}`;
  const address = origin + (pathname + search + fragment).replaceAll(NOT_IN_URI, percentEncoded);
  return address.length > MAX_WEB_ADDRESS ? undefined : address;
}

const percentEncoded = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
