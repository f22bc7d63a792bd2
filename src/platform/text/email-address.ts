import { isEmail } from 'class-validator';
import { hasTooManyMarks, isTooLong } from './composed-text';

export const MAX_EMAIL = 254;
const UNUSABLE = /\p{Cc}|\p{Surrogate}/u;

/** Whether it is one, of any text: the library's test is slow with a long one, and throws at half of a surrogate pair. */
export function isEmailAddress(text: string): boolean {
  return !isTooLong(text, MAX_EMAIL) && !UNUSABLE.test(text) && !hasTooManyMarks(text) && isEmail(text);
}
