/**
 * UTF-16 units that one code point of composed text takes in its longest spelling: U+1F82 is four when it is decomposed
 * (UAX 15, maximum expansion factors).
 */
export const LONGEST_SPELLING = 4;
/** As in the Stream-Safe Text Format of UAX 15: Unicode sorts a run of marks, and a longer one costs its square. */
export const MAX_MARKS = 30;
/** One more than that, looked for only where a run begins, so that a text is read once. */
const TOO_MANY_MARKS = /(?<!\p{M})\p{M}{31}/u;

/**
 * Whether a text is longer than so many code points in whichever spelling: then nothing else need be done with it.
 * Blanks around it count, which are cut off only later.
 */
export function isTooLong(text: string, max: number): boolean {
  return text.length > max * LONGEST_SPELLING;
}

export function hasTooManyMarks(text: string): boolean {
  return TOO_MANY_MARKS.test(text);
}

/**
 * The one form of all texts that look the same (NFC). The only place that composes what comes from outside.
 * @param max code points that there may be
 * @returns undefined for a text whose composition could take long: one that is too long, or has too many marks in a row
 */
export function compose(text: string, max: number): string | undefined {
  return isTooLong(text, max) || hasTooManyMarks(text) ? undefined : text.normalize('NFC');
}
