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

/** One statement that finds its rows by keys, or writes. */
const STATEMENT = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;
/**
 * What PostgreSQL had better plan for the values at hand, as a list is, and `*`, which another migration gives other
 * columns: a connection that knows the statement refuses it then.
 */
const PLANNED_ANEW = /\b(?:ORDER\s+BY|GROUP\s+BY|I?LIKE)\b|\*|;/i;

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
export function nameOfUsual(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_NAMES) return known;
  const count = (counted.get(text) ?? 0) + 1;
  if (count < USUAL) remember(text, count);
  else if (mayBeNamed(text)) return nameOf(text);
  return undefined;
}

function remember(text: string, count: number): void {
  if (counted.size >= MAX_COUNTED) counted.clear();
  counted.set(text, count);
}

const mayBeNamed = (text: string): boolean => STATEMENT.test(text) && !PLANNED_ANEW.test(text);
