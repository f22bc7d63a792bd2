import { compose } from './composed-text';

/** Code points of the longest e-mail address; usernames are shorter. */
const MAX_IDENTITY = 254;

/**
 * The form by which usernames and e-mail addresses are compared. Only this function folds them, for look-ups and for the
 * unique index (D-123).
 */
export function identityKey(text: string): string {
  const composed = compose(text, MAX_IDENTITY);
  if (composed === undefined) throw new RangeError('Neither a username nor an e-mail address is that long');
  const key = fold(composed);
  // A mail server may distinguish full-width letters from others. Only an address has an @.
  if (key.includes('@')) return key;
  const compatible = key.normalize('NFKC');
  return compatible === key ? key : fold(compatible);
}

function fold(text: string): string {
  // Upper case first: it unites what lower case keeps apart, such as ß and ss.
  return text.toUpperCase().toLowerCase().normalize('NFC');
}
