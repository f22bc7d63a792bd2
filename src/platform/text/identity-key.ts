import { compose } from './composed-text';

/** Code points of the longest e-mail address; a username is shorter. */
const MAX_IDENTITY = 254;

/**
 * What a username or an e-mail address is compared by. PostgreSQL's lower() and JavaScript's toLowerCase() disagree on
 * some letters, so only this function folds, before look-up and index alike.
 */
export function identityKey(text: string): string {
  const composed = compose(text, MAX_IDENTITY);
  if (composed === undefined) throw new RangeError('Neither a username nor an e-mail address is that long');
  const key = fold(composed);
  // A mail server may tell full-width letters from others. Only an address has an @.
  if (key.includes('@')) return key;
  const compatible = key.normalize('NFKC');
  return compatible === key ? key : fold(compatible);
}

function fold(text: string): string {
  // Upper case first: it brings together what lower case keeps apart, such as ß and ss.
  return text.toUpperCase().toLowerCase().normalize('NFC');
}
