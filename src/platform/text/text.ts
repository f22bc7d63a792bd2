import { compose, isTooLong } from './composed-text';

export interface NormalForm {
  /** Code points that there may be: a text that is longer in any spelling is left alone, for a rule to refuse. */
  max: number;
  multiline?: boolean;
  /** Every character of it matters. */
  asItIs?: boolean;
}

/** One form for texts that look the same: NFC and, unless every character of it matters, without blanks around it. */
export function normalise(text: string, { max, multiline = false, asItIs = false }: NormalForm): string {
  const composed = compose(text, max);
  if (composed === undefined || asItIs) return composed ?? text;
  // A form on Windows sends CRLF for the one newline that its user typed.
  return (multiline ? composed.replaceAll('\r\n', '\n') : composed).trim();
}

/** Of a regular expression's class: what {@link Text} refuses. */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';
const CONTROL_BUT_NEWLINE_AND_TAB = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';

export interface TextForm {
  min: number;
  multiline: boolean;
  secret: boolean;
  /** A character that may not occur. */
  without?: string;
}

/** The form of a text, for the document: what a length can't say, that blanks around it don't count, is in it. */
export function textPattern({ min, multiline, secret, without = '' }: TextForm): string {
  const refused = (multiline ? CONTROL_BUT_NEWLINE_AND_TAB : CONTROL) + without;
  const any = `[^${refused}]`;
  const visible = `[^\\s${refused}]`;
  if (min === 0) return `^${any}*$`;
  const least = min === 1 || secret ? visible : `${visible}${any}{${min - 2},}${visible}`;
  return `^${any}*${least}${any}*$`;
}

/** A pattern of one's own, for a whole text: what the document says is what is tested. */
export function wholePattern({ source, flags }: RegExp): string {
  if (!['', 'u'].includes(flags)) throw new Error(`No document can say the flags of the pattern /${source}/${flags}`);
  return `^(?:${source})$`;
}

/** Counted in code points. */
export function hasLength(text: string, min: number, max: number): boolean {
  // No need to count in a text that is too long at any rate.
  if (isTooLong(text, max)) return false;
  const length = [...text].length;
  return length >= min && length <= max;
}

export function lengthMessage(min: number, max: number): string {
  if (min === max) return `must be ${max} ${max === 1 ? 'character' : 'characters'}`;
  return min === 0 ? `must be at most ${max} characters` : `must be ${min} to ${max} characters`;
}
