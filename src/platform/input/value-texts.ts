import { isKey } from './key.pipe';

/** The greatest length of these texts in characters. A longer one isn't parsed. */
export const MAX_VALUE_TEXT = 40;
const DAY = /^(?!0000)\d{4}-\d\d-\d\d$/;
const MOMENT =
  /^(?!0000)(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const FIRST_YEAR = 1;
const LAST_YEAR = 9999;

export const EXAMPLE_DAY = '2026-01-31';
export const EXAMPLE_MOMENT = '2026-01-31T12:00:00Z';
export const dayMessage = `must be a day like ${EXAMPLE_DAY}`;
export const momentMessage = `must be a moment with a time zone like ${EXAMPLE_MOMENT}`;

/** A date stays text, like a column of type `date`: no time zone can move it. Undefined for a text that is none. */
export const parseDay = (text: string): string | undefined => (DAY.test(text) && isDay(text) ? text : undefined);

/** Undefined for a text that is none, or one of a year without four digits in UTC. */
export function parseMoment(text: string): Date | undefined {
  const [, day] = MOMENT.exec(text) ?? [];
  if (!day || !isDay(day)) return undefined;
  const moment = new Date(text.toUpperCase());
  const year = moment.getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR ? moment : undefined;
}

/** Small letters, like in PostgreSQL. */
export const parseUuid = (text: string): string | undefined => (isKey(text) ? text.toLowerCase() : undefined);

/** False for e.g. the 30th of February. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
