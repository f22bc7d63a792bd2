import { isEmail } from 'class-validator';
import { hasTooManyMarks, isTooLong } from './composed-text';

export const MAX_EMAIL = 254;
const UNUSABLE = /\p{Cc}|\p{Surrogate}/u;

/**
 * True for an e-mail address. Checks first what the library handles badly: it is slow for a long text, and throws for a
 * lone surrogate.
 */
export function isEmailAddress(text: string): boolean {
  return !isTooLong(text, MAX_EMAIL) && !UNUSABLE.test(text) && !hasTooManyMarks(text) && isEmail(text);
}
