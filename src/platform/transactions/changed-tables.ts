/** Matches an SQL statement that changes rows, and captures its table. */
const CHANGE = /\b(?:update|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?([\w."]+)/gi;
/** Matches an INSERT, which may change existing rows. */
const INSERT = /\binsert\s+into\s+([\w."]+)/gi;
const UPSERT = /\bdo\s+update\b/i;

/** Whether a statement is an INSERT that may change existing rows, as those of `upsert()` and `orUpdate()`. */
export const isUpsert = (query: string): boolean => UPSERT.test(query);

/** The names of the tables, without their schema, whose existing rows a statement may change. */
export function changedTables(query: string): string[] {
  return [...query.matchAll(CHANGE), ...(isUpsert(query) ? query.matchAll(INSERT) : [])].map(nameOf);
}

/** The names of the tables, without their schema, that a statement may write. */
export function writtenTables(query: string): string[] {
  return [...query.matchAll(CHANGE), ...query.matchAll(INSERT)].map(nameOf);
}

const nameOf = ([, table]: RegExpExecArray): string => table.replaceAll('"', '').split('.').at(-1)!.toLowerCase();
