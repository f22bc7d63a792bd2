/** What a migration may not do while instances of the last release run: why, and what to do instead. */
export const RULES = {
  'not-null': {
    why: 'the last release writes rows without a value, and they fail',
    instead:
      'give the column a DEFAULT, or allow NULL until no instance writes NULL; then add CHECK (column IS NOT NULL) NOT VALID, validate it in the next migration, and SET NOT NULL in the one after',
  },
  drop: {
    why: 'the last release still reads it',
    instead: 'stop using it in this release, and drop it in the next one',
  },
  rename: {
    why: 'the last release knows the old name only',
    instead: 'add the new one, write both, copy the rows, and drop the old one two releases later',
  },
  type: {
    why: 'all rows are written anew while everybody waits, and the last release reads the old type',
    instead: 'add a column of the new type, write both, copy the rows, and drop the old one two releases later',
  },
  index: {
    why: 'every write to the table waits until the index is made',
    instead: 'call addIndex(database, name, definition) in a migration of its own with `transaction = false`',
  },
  constraint: {
    why: 'all rows are checked while everybody waits',
    instead:
      'add a CHECK or FOREIGN KEY by ADD CONSTRAINT ... NOT VALID, and VALIDATE CONSTRAINT in the next migration; make a unique index by addIndex(), and add UNIQUE or PRIMARY KEY by USING INDEX in the next migration',
  },
  rewrite: {
    why: 'all rows are written anew while everybody waits',
    instead: 'add the column without that DEFAULT, set the DEFAULT for new rows, and fill the old rows in batches',
  },
  rows: {
    why: 'the changed rows stay locked until the migration ends',
    instead: 'change them in batches by a job of the service, or by a command, after the start',
  },
  lock: {
    why: 'others wait until the migration ends',
    instead: 'leave the lock out, or lock a table that this migration makes',
  },
  transaction: {
    why: 'a migration without a transaction that fails half-way is run again from its beginning',
    instead:
      'leave only addIndex() and dropIndex() in it, which may be repeated, and move the rest to another migration',
  },
  hidden: {
    why: 'the statements in a DO block are not checked',
    instead: 'write them as statements of the migration',
  },
  run: { why: 'it fails', instead: 'correct the migration' },
} as const;

export type Rule = keyof typeof RULES;

/** What a migration does against a rule. */
export interface Finding {
  rule: Rule;
  /** A table, `table.column`, or the name of an index, a constraint or a function. */
  object: string;
  /** The beginning of the statement; without it the migration as a whole does it. */
  statement?: string;
  /** More than the rule says. */
  detail?: string;
}
