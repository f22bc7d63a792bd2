import pg from 'pg';
import { Moment } from '../text/moment';

type Parse = (value: string) => unknown;

const TIMESTAMPTZ_OID = 1184;
/** The longest text with a year of four digits and microseconds. */
const MAX_TIMESTAMP = '2026-01-31 12:00:00.123456+00'.length;
/** A double represents every decimal number of 15 digits exactly. A text of 15 characters has no more digits. */
const EXACT_LENGTH = 15;

/** The driver's types don't declare it. */
interface ArrayParser {
  create: (text: string, parse: Parse) => { parse: () => unknown[] };
}

const { arrayParser } = pg.types as unknown as { arrayParser: ArrayParser };
const parseTimestamp = pg.types.getTypeParser(TIMESTAMPTZ_OID, 'text') as Parse;
const sameText: Parse = (text) => text;

/** Parsers that replace those of node-postgres, keyed by the OID in `pg_type`. */
const PARSERS: Record<number, Parse> = {
  20: toInteger, // bigint
  1016: listOf(toInteger),
  1700: toNumber, // numeric
  1231: listOf(toNumber),
  // A date has no time zone: as a moment it would be another date in another time zone.
  1082: sameText, // date
  1182: listOf(sameText),
  [TIMESTAMPTZ_OID]: toDate,
};

/** The parser that turns values of a type into JavaScript values. */
export function getTypeParser(oid: number, format: 'text' | 'binary'): Parse {
  return PARSERS[oid] ?? (pg.types.getTypeParser(oid, format) as Parse);
}

/** Ids are sent as JSON numbers. A number that JavaScript can't represent exactly stays text. */
function toInteger(text: string): number | string {
  const number = Number(text);
  return text.length <= EXACT_LENGTH || Number.isSafeInteger(number) ? number : text;
}

/** Money is sent as a JSON number, which represents its twelve digits exactly. Nothing is added up in this form. */
function toNumber(text: string): number | string {
  const number = Number(text);
  // JSON has no `NaN` and no `Infinity`.
  if (!Number.isFinite(number)) return text;
  return text.length <= EXACT_LENGTH || hasDigitsOf(text, number) ? number : text;
}

function hasDigitsOf(text: string, number: number): boolean {
  return String(number) === (text.includes('.') ? withoutZeros(text) : text);
}

/** `19.2500` is 19.25, and `5.00` is 5. */
function withoutZeros(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === '0') end--;
  return text.slice(0, text.charAt(end - 1) === '.' ? end - 1 : end);
}

function listOf(parse: Parse): Parse {
  return (text) => arrayParser.create(text, parse).parse();
}

/** Rewrites `2026-01-31 12:00:00.123+00` as ISO 8601, which V8 parses in half the time of the driver's parser. */
function toDate(text: string): unknown {
  const isUtc = text.length <= MAX_TIMESTAMP && text.charAt(10) === ' ' && text.endsWith('+00');
  return isUtc ? new Moment(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseTimestamp(text);
}
