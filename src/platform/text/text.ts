import { compose, isTooLong } from './composed-text';

export interface NormalForm {
  /** The greatest number of code points. A longer text isn't normalised, as a rule refuses it. */
  max: number;
  multiline?: boolean;
  /** True if every character matters. */
  asItIs?: boolean;
}

/** Normalises texts that look the same: NFC and, unless every character matters, no blanks around the text. */
export function normalise(text: string, { max, multiline = false, asItIs = false }: NormalForm): string {
  const composed = compose(text, max);
  if (composed === undefined || asItIs) return composed ?? text;
  // A form on Windows sends CRLF for a newline.
  return (multiline ? composed.replaceAll('\r\n', '\n') : composed).trim();
}

/**
 * The characters that {@link Text} refuses, for a character class. Not as `\u0000`: a generator of clients writes that into its
 * code as the character itself, and Go's regular expressions don't know it.
 */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';
const CONTROL_BUT_NEWLINE_AND_TAB = '\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f';

export interface TextForm {
  min: number;
  multiline: boolean;
  secret: boolean;
  /** A character that must not occur. */
  without?: string;
}

/** The pattern of a text in the document. It also expresses what a length can't: blanks around the text don't count. */
export function textPattern({ min, multiline, secret, without = '' }: TextForm): string {
  const refused = (multiline ? CONTROL_BUT_NEWLINE_AND_TAB : CONTROL) + without;
  const any = `[^${refused}]`;
  const visible = `[^\\s${refused}]`;
  if (min === 0) return `^${any}*$`;
  const least = min === 1 || secret ? visible : `${visible}${any}{${min - 2},}${visible}`;
  return `^${any}*${least}${any}*$`;
}

/** Anchors a custom pattern. The document states the same pattern that is tested. */
export function wholePattern({ source, flags }: RegExp): string {
  if (!['', 'u'].includes(flags)) throw new Error(`No document can say the flags of the pattern /${source}/${flags}`);
  return `^(?:${source})$`;
}

/** Counts code points. */
export function hasLength(text: string, min: number, max: number): boolean {
  // A text that is too long in any form needn't be counted.
  if (isTooLong(text, max)) return false;
  // A code point has one or two units, so that most texts needn't be counted.
  if (text.length >= 2 * min && text.length <= max) return true;
  const length = [...text].length;
  return length >= min && length <= max;
}

export function lengthMessage(min: number, max: number): string {
  if (min === max) return `must be ${max} ${max === 1 ? 'character' : 'characters'}`;
  return min === 0 ? `must be at most ${max} characters` : `must be ${min} to ${max} characters`;
}
