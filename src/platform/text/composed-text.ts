/**
 * The greatest number of UTF-16 units of one code point of composed text in another form: U+1F82 has four when
 * decomposed (UAX 15, maximum expansion factors).
 */
export const LONGEST_SPELLING = 4;
/**
 * The limit of the Stream-Safe Text Format (UAX 15). Unicode sorts a run of marks, which costs the square of its
 * length.
 */
export const MAX_MARKS = 30;
/** The lookbehind anchors the search at the begin of a run, which keeps it linear. */
const TOO_MANY_MARKS = /(?<!\p{M})\p{M}{31}/u;

/**
 * True if a text has more than `max` code points in any normalisation form, so that it needn't be processed. Blanks
 * around the text count, as they are trimmed later.
 */
export function isTooLong(text: string, max: number): boolean {
  return text.length > max * LONGEST_SPELLING;
}

export function hasTooManyMarks(text: string): boolean {
  return TOO_MANY_MARKS.test(text);
}

/**
 * The common form of texts that look the same (NFC). All input is composed here and nowhere else.
 * @param max the greatest number of code points
 * @returns undefined for a text whose composition could take long: it is too long, or has too many marks in a row
 */
export function compose(text: string, max: number): string | undefined {
  return isTooLong(text, max) || hasTooManyMarks(text) ? undefined : text.normalize('NFC');
}
