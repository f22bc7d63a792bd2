import { type Client, type Connection, Query, type QueryConfig, type Submittable } from 'pg';
import { isQuery, withTransactionLimits } from './statement-kinds';

/** What node-postgres's query does that its types don't declare. */
export interface PreparableQuery extends Submittable {
  text: string;
  name?: string;
  values?: unknown[];
  callback?: (error: Error | null, result: unknown) => void;
  requiresPreparation(): boolean;
  prepare(connection: WireConnection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
}

/** What node-postgres's connection does that its types don't declare. */
export interface WireConnection {
  parse(statement: { text: string; name: string; types: number[] }): void;
  bind(portal: { portal: string; statement: string; values: unknown[] }): void;
  execute(portal: { portal: string; rows: number }): void;
}

export const Preparable = Query as unknown as new (...options: unknown[]) => PreparableQuery;

/** The limits of one statement in milliseconds; 0 for none. */
export interface StatementLimits {
  statement: number;
  /** How long its transaction may be idle. */
  idle: number;
}

const SET_LIMIT = "SELECT set_config('statement_timeout', $1, true)";

/**
 * A statement that brings its time limits along, for connections whose session nobody can set up: behind a pooler each
 * transaction may run in another session. A statement that begins a transaction sets the limits of the transaction. A
 * statement outside of a transaction sets its limit in the same message, which PostgreSQL runs as one transaction.
 * Statements have no names, as a session that has no such statement may run them.
 */
export class LimitedQuery extends Preparable {
  /** True until the result of the prefix that sets the limit has come. */
  private awaitsPrefix = false;

  constructor(
    private readonly client: Pick<Client, 'getTransactionStatus'>,
    private readonly limits: StatementLimits,
    statement: string | QueryConfig,
    values?: unknown,
    callback?: unknown,
  ) {
    super(statement, values, callback);
    this.name = undefined;
    this.text = withTransactionLimits(this.text, limits);
  }

  // Called when the statement is sent. Before that, it isn't known whether it will be in a transaction.
  override requiresPreparation(): boolean {
    this.awaitsPrefix = this.client.getTransactionStatus() === 'I' && isQuery(this.text);
    return this.awaitsPrefix || super.requiresPreparation();
  }

  override prepare(connection: WireConnection): void {
    if (this.awaitsPrefix) {
      connection.parse({ text: SET_LIMIT, name: '', types: [] });
      connection.bind({ portal: '', statement: '', values: [String(this.limits.statement)] });
      connection.execute({ portal: '', rows: 0 });
    }
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (!this.awaitsPrefix) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.awaitsPrefix) this.awaitsPrefix = false;
    else super.handleCommandComplete(message, connection);
  }
}
