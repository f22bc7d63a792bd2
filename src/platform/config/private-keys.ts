import { createPrivateKey } from 'node:crypto';

const PEM = /-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g;
/** What RS256 asks for (RFC 7518, 3.3). */
const MIN_BITS = 2048;

/** The single keys in a text of one or more. */
export function splitKeys(text: string): string[] {
  return text.match(PEM) ?? [];
}

export function isPrivateKeys(text: unknown): boolean {
  const keys = splitKeys(String(text));
  return keys.length > 0 && keys.every(isPrivateKey);
}

function isPrivateKey(text: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(text);
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_BITS;
  } catch {
    return false;
  }
}
