import { escapeLiteral } from 'pg';
import { currentOrigin } from './place';
import type { Statement } from './statement-group';
import { nameOf } from './statement-names';
import { bare } from './statements-of';
import { isWriter } from './writer';

/** The setting from which the triggers of `auditRows()` read who makes a change. It lasts until the transaction ends. */
export const CONTEXT_SETTING = 'audit.context';
/** The setting from which they read who has written which row of a statement of several requests. */
export const CONTEXTS_SETTING = 'audit.contexts';

/** What TypeORM sends. */
export const BEGIN = 'START TRANSACTION';
const BEGINNING = /^(?:START\s+TRANSACTION|BEGIN)\b[^;]*/i;

/** Who makes a change: the caller, the request and the client's address. Undefined for work of the service itself. */
export function auditContext(): string | undefined {
  const origin = currentOrigin();
  if (!origin) return undefined;
  const { id: request_id, ip: address, user } = origin;
  return JSON.stringify({ user_id: isWriter(user) ? user.id : undefined, request_id, address });
}

/**
 * SQL that tells the triggers who writes. In RETURNING it is evaluated before the triggers AFTER the statement run, so a
 * statement outside of a transaction needs no other one.
 * @param values the values of the statement; that of the context is added
 */
export function contextSetting(context: string, values: unknown[]): string {
  return `set_config('${CONTEXT_SETTING}', $${values.push(context)}, true)`;
}

/** A statement that begins a transaction, and also tells who writes in it. Others are returned as they are. */
export function beginningWithContext(text: string): string {
  const statements = bare(text);
  if (!BEGINNING.test(statements)) return text;
  const context = auditContext();
  // A SELECT would come too early for SET TRANSACTION ISOLATION LEVEL.
  return context === undefined
    ? text
    : statements.replace(BEGINNING, (begin) => `${begin}; SET LOCAL ${CONTEXT_SETTING} = ${escapeLiteral(context)}`);
}

/** What begins a transaction, and also tells who writes in it, for {@link sendAhead}. */
export function beginning(): Statement[] {
  const context = auditContext();
  const values: unknown[] = [];
  const setting = context === undefined ? undefined : `SELECT ${contextSetting(context, values)}`;
  return [{ text: BEGIN }, ...(setting ? [{ text: setting, name: nameOf(setting), values }] : [])];
}
