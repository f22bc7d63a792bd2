import { statementsOf } from './statements-of';

/** Statements whose effect is meant to last for the session, and what works instead. */
const OF_SESSION: [RegExp, string][] = [
  [/^\s*(?:SET(?!\s+(?:LOCAL|TRANSACTION|CONSTRAINTS)\b)|RESET|DISCARD)\b/i, 'write SET LOCAL inside of a transaction'],
  [/\bpg_(?:try_)?advisory_(?:un)?lock(?:_shared|_all)?\s*\(/i, 'use pg_advisory_xact_lock(), or withLock()'],
  [/^\s*(?:UN)?LISTEN\b/i, 'listen on a connection of your own, to PostgreSQL itself'],
  [/^\s*(?:PREPARE(?!\s+TRANSACTION\b)|EXECUTE|DEALLOCATE)\b/i, 'send the statement with its values'],
  [/^\s*DECLARE\b[^;]*\bWITH\s+HOLD\b/i, 'read the cursor inside of the transaction'],
];

/**
 * Refuses what would happen to the session of another transaction.
 * @throws {Error} for a statement that needs a session
 */
export function requireNoSession(text: string): void {
  // A function's call may stand in the body of a function, which is no statement of its own.
  const texts = [text, ...statementsOf(text)];
  for (const [pattern, instead] of OF_SESSION) {
    if (!texts.some((one) => pattern.test(one))) continue;
    throw new Error(
      `Behind a pooler (DATABASE_POOLER=transaction) the next transaction may run in another session: ${instead}. ` +
        'docs/operations.md, "A connection pooler", lists what needs a session.',
    );
  }
}
