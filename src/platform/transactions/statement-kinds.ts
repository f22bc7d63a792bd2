import { bare, statementsOf } from './statements-of';

const CONTROL =
  /^(?:BEGIN|START\s+TRANSACTION|COMMIT|END|ABORT|PREPARE\s+TRANSACTION|ROLLBACK(?!\s+(?:\w+\s+)?TO\b))\b/i;
const COMMIT = /^(?:COMMIT|END|PREPARE\s+TRANSACTION)\b/i;
/** A beginning may name the context of the audit, see {@link beginningWithContext}. */
const PASSING =
  /^(?:BEGIN|START\s+TRANSACTION|ROLLBACK|ABORT|SET|RESET)\b[^;]*(?:;\s*(?:SET LOCAL audit\.context\b[^;]*)?)?$/i;
const BEGIN = /^(?:BEGIN|START\s+TRANSACTION)\b[^;]*/i;
const QUERY = /^(?:SELECT|VALUES|TABLE|WITH|INSERT|UPDATE|DELETE|MERGE)\b/i;
const SAVEPOINT = /^(?:SAVEPOINT|RELEASE)\b/i;
const ROLLBACK_TO = /^ROLLBACK\s+(?:\w+\s+)?TO\b/i;
const READ = /^(?:SELECT|VALUES|TABLE|SHOW|EXPLAIN|WITH|DECLARE|FETCH|MOVE|CLOSE)\b/i;
const LOCK = /\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b/gi;
const LOCKING = /\bFOR\s+(?:(?:NO\s+KEY\s+)?UPDATE|(?:KEY\s+)?SHARE)\b|\bpg_(?:try_)?advisory_xact_lock/i;
/** Texts and names, in which words say nothing. */
const QUOTED = /'[^']*'|"[^"]*"/g;
const WRITE = /\b(?:INSERT|UPDATE|DELETE|MERGE)\b/i;
const LOCAL_SETTING = /^SET\s+LOCAL\b|\bset_config\s*\(/i;
const SETTING =
  /^SET\s+LOCAL\s+(TIME\s+ZONE|[\w.]+)(?!\s+AUTHORIZATION)|^SELECT\s+(?:pg_catalog\.)?set_config\s*\(\s*'([\w.]+)'[^;]*$/i;
const TARGET = /^(INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO)\s+("?[\w.]+"?)/i;

/** True if one of the statements begins or ends a transaction. */
export const isControl = (text: string): boolean => statementsOf(text).some((one) => CONTROL.test(one));

/** True for a statement that goes back to a savepoint. */
export const isRollbackTo = (text: string): boolean => ROLLBACK_TO.test(bare(text));

export const isSavepoint = (text: string): boolean => SAVEPOINT.test(bare(text)) || isRollbackTo(text);

/** True for a statement that may write. A read that calls a writing function isn't recognised. */
export const mayWrite = (text: string): boolean =>
  !statementsOf(text).every((one) => READ.test(one)) || WRITE.test(text.replace(LOCK, ''));

/** True for a statement that commits a transaction. */
export const isCommit = (text: string): boolean => statementsOf(text).some((one) => COMMIT.test(one));

/** True for a statement that commits by itself outside of a transaction. */
export const commitsAlone = (text: string): boolean => mayWrite(text) && !PASSING.test(bare(text));

/** True for a statement that changes a setting until the transaction ends. */
export const setsLocally = (text: string): boolean => LOCAL_SETTING.test(bare(text));

/** True for one statement that reads or writes rows. A text of several isn't. */
export const isQuery = (text: string): boolean => QUERY.test(bare(text)) && statementsOf(text).length === 1;

/** Adds time limits, in milliseconds, to a text that begins a transaction. */
export function withTransactionLimits(text: string, { statement, idle }: { statement: number; idle: number }): string {
  const limits = `SET LOCAL statement_timeout = ${statement}; SET LOCAL idle_in_transaction_session_timeout = ${idle}`;
  const statements = bare(text);
  return BEGIN.test(statements) ? statements.replace(BEGIN, (begin) => `${begin}; ${limits}`) : text;
}

/** True for a text of which nothing is lost but settings when it is undone. A read that calls a writing function isn't recognised. */
export function setsAlone(text: string): boolean {
  const isHarmless = (one: string) => LOCAL_SETTING.test(one) || READ.test(one);
  return statementsOf(text).every(isHarmless) && !WRITE.test(text.replace(LOCK, ''));
}

/** True for a statement that leaves more than settings until its transaction ends: rows that it writes, or locks. */
export const leavesMore = (text: string): boolean =>
  (mayWrite(text) && !setsAlone(text)) || LOCKING.test(text.replace(QUOTED, ''));

/** The name of the setting, if it is recognised. */
export function settingOf(text: string): string | undefined {
  const [, set, configured] = SETTING.exec(bare(text)) ?? [];
  return set?.toUpperCase().startsWith('TIME ') ? 'TimeZone' : (set ?? configured);
}

/** The verb and table of a statement without its values, for a message. */
export function nameOfStatement(text: string): string {
  const [, verb, table] = TARGET.exec(bare(text)) ?? [];
  return verb ? `${verb.toUpperCase()} ${table}` : 'a statement';
}
