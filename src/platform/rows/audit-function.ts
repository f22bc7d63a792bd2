import { AuditExpressions, type AuditedTable, CHANGES, COLUMNS, who } from './audit-expressions';
import type { AuditedColumn } from './audited-columns';

/** SQLSTATE where the audit can't tell which of several writers has changed a row: a trigger did, or another build wrote the contexts. */
export const SEVERAL_WRITERS = 'WR409';

/** Where several writers change rows, and none of them is known to have changed this one. */
const REFUSAL = `RAISE EXCEPTION 'The audit can not tell which of several writers has changed a row' USING ERRCODE = '${SEVERAL_WRITERS}';`;

/**
 * The body of the function that the triggers of a table call. Each table has its own, which names the table's columns: one
 * that asks for them in each change takes three times as long. So it is made anew when the columns change, see
 * {@link renewAudits}.
 */
export function auditFunctionBody(table: string, columns: readonly AuditedColumn[], options: AuditedTable): string {
  const audit = new AuditExpressions(table, columns, options);
  return `
  #variable_conflict use_column
  DECLARE
    -- Of a statement that inserts rows of several requests: the context of each, by its id.
    audit_contexts text := nullif(current_setting('audit.contexts', true), '');
    audit_contexts_by_id jsonb;
    audit_context jsonb := CASE WHEN audit_contexts IS NULL THEN nullif(current_setting('audit.context', true), '')::jsonb END;
    audit_before jsonb;
    audit_after jsonb;
    audit_concealed text[] := '{}';
  BEGIN
    IF audit_contexts IS NOT NULL AND (pg_trigger_depth() > 1 OR TG_OP = 'UPDATE') THEN
      ${REFUSAL}
    END IF;
    IF TG_OP = 'UPDATE' THEN${audit.comparisons()}
      INSERT INTO audit_events (${COLUMNS}, ${CHANGES})
        VALUES (${who('audit_context')}, ${audit.actionOfUpdate('OLD', 'NEW')}, ${audit.resource}, ${audit.idOf('NEW')},
                ${audit.versionOf('OLD')}, ${audit.versionOf('NEW')}, audit_before, audit_after, audit_concealed,
                ${audit.readersOf('OLD')}, ${audit.readersOf('NEW')});
    ELSIF TG_OP = 'INSERT' THEN${audit.ofRows('CREATED', 'added', 'after')}
    ELSIF TG_OP = 'DELETE' THEN${audit.ofRows('DELETED', 'removed', 'before')}
    ELSE
      INSERT INTO audit_events (user_id, request_id, address, action, resource)
        VALUES (${who('audit_context')}, 'TRUNCATED', ${audit.resource});
    END IF;
    RETURN NULL;
  END `;
}

/**
 * The body of the function for a statement that updates rows of several requests: one INSERT for all events takes half of the
 * time of one for each (D-304). A row without a context, or without the id that it had, has no action, which fails.
 */
export function auditTogetherBody(table: string, columns: readonly AuditedColumn[], options: AuditedTable): string {
  const audit = new AuditExpressions(table, columns, options);
  const action = audit.actionOfUpdate('removed', 'added');
  return `
  #variable_conflict use_column
  DECLARE
    -- The context of each row, by its id.
    audit_contexts_by_id jsonb := current_setting('audit.contexts')::jsonb;
  BEGIN
    IF pg_trigger_depth() > 1 THEN
      ${REFUSAL}
    END IF;
    INSERT INTO audit_events (${COLUMNS}, ${CHANGES})
      SELECT ${who('audit_origin.context')},
             CASE WHEN added.id IS NOT NULL AND audit_origin.context IS NOT NULL THEN ${action} END,
             ${audit.resource}, ${audit.idOf('added')}, ${audit.versionOf('removed')}, ${audit.versionOf('added')},
             ${audit.changed('removed')}, ${audit.changed('added')}, ${audit.concealedChanges()},
             ${audit.readersOf('removed')}, ${audit.readersOf('added')}
        FROM removed LEFT JOIN added ON added.id = removed.id, LATERAL (SELECT audit_contexts_by_id->removed.id::text) AS audit_origin(context)
       WHERE added.id IS NULL OR ${audit.isChange('removed', 'added')};
    RETURN NULL;
  END `;
}

/** Whether a table has updates of several requests: {@link auditTogetherBody} joins their rows by their ids. */
export const isWrittenTogether = (columns: readonly AuditedColumn[]): boolean =>
  columns.some(({ name }) => name === 'id');
