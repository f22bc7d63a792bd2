import { randomBytes } from 'node:crypto';
import { type Newcomer } from '../../platform/accounts';
import { compose } from '../../platform/features';
import { isRecognisable } from './username';

const MAX_USERNAME = 20;
const MIN_USERNAME = 3;
const MAX_NAME = 100;
/** The username for users without any valid name. */
const NAMELESS = 'user';

/** A valid username for a user of an identity provider, as similar as possible to the name there. */
export function usernameOf({ username = '', email }: Newcomer): string {
  const wishes = [username.replaceAll('@', ''), email.split('@')[0]].map((wish) => clean(wish, MAX_USERNAME));
  const name = wishes.find((wish) => wish !== '' && isRecognisable(wish)) ?? NAMELESS;
  return name + '-'.repeat(Math.max(0, MIN_USERNAME - [...name].length));
}

/** Another username, if the first one is taken. */
export function suffixed(username: string): string {
  const suffix = `-${randomBytes(3).toString('hex')}`;
  return cut(username, MAX_USERNAME - suffix.length) + suffix;
}

export function displayNameOf({ name = '' }: Newcomer): string | null {
  return clean(name, MAX_NAME) || null;
}

/** Cut first, because a claim may have any length; and again, because composing may lengthen a text. */
function clean(text: string, max: number): string {
  const composed = compose(cut(text, max), max) ?? '';
  return cut(composed.replace(/\p{Cc}|\p{Surrogate}/gu, '').trim(), max);
}

function cut(text: string, codePoints: number): string {
  return [...text].slice(0, codePoints).join('').trim();
}
