import { createPrivateKey } from 'node:crypto';

const PEM = /-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g;
/** The least size for RS256 (RFC 7518, 3.3). */
const MIN_BITS = 2048;

/** Splits a text of one or more PEM keys. */
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
