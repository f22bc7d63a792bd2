/**
 * What a username or an e-mail address is compared by. PostgreSQL's lower() and JavaScript's toLowerCase() disagree on
 * some letters, so only this function folds, before look-up and index alike.
 */
export function identityKey(text: string): string {
  // Upper case first: it brings together what lower case keeps apart, such as ß and ss.
  return text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
