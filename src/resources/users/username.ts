/**
 * The scripts of today's languages (UAX 31, table 5); the last three lines are the ones that Japanese, Chinese and
 * Korean write together (UTS 39, highly restrictive).
 */
const SCRIPTS = [
  ...['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Armenian', 'Georgian', 'Ethiopic', 'Thaana', 'Tibetan'],
  ...['Bengali', 'Devanagari', 'Gujarati', 'Gurmukhi', 'Kannada', 'Malayalam', 'Oriya', 'Sinhala', 'Tamil', 'Telugu'],
  ...['Khmer', 'Lao', 'Myanmar', 'Thai'],
  'Latin Han Hiragana Katakana',
  'Latin Han Bopomofo',
  'Latin Han Hangul',
];
/** What looks like nothing, like a blank, or like what stands beside it. U+1D159 and U+FFFC say in no property that they do. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u{1d159}\ufffc\ufffd]|(?! )\p{Z}| {2}|^\p{M}/u;
/** A dot on a letter that has one. */
const DOT_ON_DOT = /\p{Soft_Dotted}\p{M}*\u0307/u;
const OF_ONE_SCRIPT = new RegExp(`^(?:${SCRIPTS.map(classOf).join('|')})$`, 'u');

/**
 * Whether people can tell the name from others: all of it is seen, and its letters are of one script, so that no Cyrillic
 * `о` stands in a Latin name. It doesn't tell 0 from O, nor a name that is Cyrillic as a whole from a Latin one.
 * @param text of at most the length of a username
 */
export function isRecognisable(text: string): boolean {
  return (
    !UNSEEN.test(text) && !DOT_ON_DOT.test(text) && OF_ONE_SCRIPT.test(text) && !text.normalize('NFKC').includes('@')
  );
}

/** Digits, signs and marks belong to every script. */
function classOf(scripts: string): string {
  const names = [...scripts.split(' '), 'Common', 'Inherited'];
  return `[${names.map((name) => `\\p{Script_Extensions=${name}}`).join('')}]*`;
}
