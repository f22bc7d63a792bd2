import { createHash } from 'node:crypto';

/**
 * The number of statements that are named, so that each connection keeps their plans. Later statements are planned each
 * time.
 */
const MAX_NAMES = 500;
/** How often a text comes before it gets a name: a text that has values in it never comes again. */
const USUAL = 3;
/** Texts whose number is remembered. */
const MAX_COUNTED = 1_000;
/** Longer texts, and those of more values, are of many rows, whose number differs from one time to the next. */
const MAX_LENGTH = 5_000;
const MAX_VALUES = 50;

/** One statement that finds its rows by keys, or writes. */
const STATEMENT = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;
/**
 * What PostgreSQL had better plan for the values at hand: pages of a list, searches, and ranges, as those of jobs that tidy up.
 * And `*`, which another migration gives other columns: a connection that knows the statement refuses it then.
 */
const PLANNED_ANEW = /\b(?:GROUP\s+BY|I?LIKE|BETWEEN)\b|(?<![-@&|<>])[<>]=?\s*\$|(?<!\bcount\()\*|;/i;
const ORDERED = /\bORDER\s+BY\b/i;
const LIMITED = /\bLIMIT\b/i;

const names = new Map<string, string>();
const counted = new Map<string, number>();

/** A short name, because PostgreSQL limits names to 63 bytes. Undefined when there are too many. */
export function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_NAMES) return known;
  const name = createHash('sha256').update(text).digest('base64url');
  names.set(text, name);
  return name;
}

/**
 * The name of a statement of TypeORM, or of any other code that names none: PostgreSQL would parse and plan it each time,
 * which takes longer than to run it. Undefined for a statement that is seldom, or had better be planned for its values.
 */
function nameOfUsual(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_NAMES) return known;
  const count = (counted.get(text) ?? 0) + 1;
  // It was looked at before, and gets none.
  if (count > USUAL) return undefined;
  if (count === USUAL && mayBeNamed(text)) return nameOf(text);
  if (counted.size >= MAX_COUNTED) counted.clear();
  counted.set(text, count);
  return undefined;
}

const mayBeNamed = (text: string): boolean =>
  STATEMENT.test(text) && !PLANNED_ANEW.test(text) && !(ORDERED.test(text) && LIMITED.test(text));

/** What a client is to be asked instead of a text: the same, by the name of the text if it is a usual one. */
export function byName(statement: unknown, values: unknown): unknown {
  if (typeof statement !== 'string' || statement.length > MAX_LENGTH) return statement;
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_VALUES) return statement;
  const name = nameOfUsual(statement);
  return name === undefined ? statement : { name, text: statement };
}
