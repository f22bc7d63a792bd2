import type { Connection, QueryResult } from 'pg';
import { DescribedQuery, type NamingConnection } from './described-query';
import type { PreparableQuery, WireConnection } from './limited-query';

/** One statement of SQL. By a name, PostgreSQL parses it once for each connection. */
export interface Statement {
  text: string;
  values?: unknown[];
  name?: string;
}

type Callback = (error: Error | undefined, results?: QueryResult[]) => void;

/** What node-postgres's connection has that its types don't declare. */
interface GroupConnection extends NamingConnection {
  stream: { cork(): void; uncork(): void };
}

/** What node-postgres's query has that its types don't declare. */
interface PartQuery extends PreparableQuery {
  _result: QueryResult & { _types?: unknown };
  handleRowDescription(message: unknown): void;
  handleReadyForQuery(connection: Connection): void;
  handleCopyInResponse(connection: Connection): void;
  handleCopyData(message: unknown, connection: Connection): void;
  handleError(error: Error): void;
}

const PartBase = DescribedQuery as unknown as new (...options: unknown[]) => PartQuery;

/** A statement of a group. */
class Part extends PartBase {
  /** The error of this side: a value that can't be sent, or a result that can't be read. */
  mistake?: Error;

  override handleError(error: Error): void {
    this.mistake = error;
  }

  /** Without the Sync that ends a message: the group's end has it. */
  protected _getRows(connection: WireConnection): void {
    connection.execute({ portal: '', rows: 0 });
  }
}

/**
 * Statements that go to PostgreSQL in one message, and cost one round trip. PostgreSQL runs one after the other, and none
 * after one that has failed: after a failure, a COMMIT in the same group isn't run. The driver calls its methods.
 */
export class StatementGroup {
  /** Set by the driver. */
  callback?: Callback;
  /** The driver puts the parsers of values here. */
  readonly _result: { _types?: unknown } = {};
  private readonly parts: Part[];
  /** The number of statements that have ended. */
  private ended = 0;
  private isSent = false;

  constructor(statements: readonly Statement[]) {
    // The driver copies options slowly.
    this.parts = statements.map(({ text, values, name }) => Object.assign(new Part(text, values), { name }));
  }

  /** All statements, for code that watches what is sent. Afterwards that of the statement that runs. */
  get text(): string {
    const { parts } = this;
    return this.isSent ? this.part.text : parts.map(({ text }) => text).join('; ');
  }

  /**
   * That of the last statement, for code that watches what is sent: what comes before it is only taken along. Afterwards that of
   * the statement that runs, which the driver remembers.
   */
  get name(): string | undefined {
    return this.isSent ? this.part.name : this.last.name;
  }

  /** The statement that the others are sent with. */
  get last(): { readonly text: string; readonly name?: string } {
    return this.parts[this.parts.length - 1];
  }

  submit(connection: GroupConnection): null {
    this.isSent = true;
    connection.stream.cork();
    try {
      this.send(connection);
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.part.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.part.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.part.handleCommandComplete(message, connection);
    this.ended++;
  }

  handleCopyInResponse(connection: Connection): void {
    this.part.handleCopyInResponse(connection);
    // PostgreSQL has ignored the Sync that came while it waited for rows.
    (connection as unknown as GroupConnection).sync();
  }

  handleCopyData(message: unknown, connection: Connection): void {
    this.part.handleCopyData(message, connection);
  }

  /** A statement without a text. */
  handleEmptyQuery(): void {
    this.ended++;
  }

  handleError(error: Error, connection: GroupConnection): void {
    // PostgreSQL has skipped what the driver has sent after it.
    this.forget(connection, false);
    this.callback?.(error);
  }

  handleReadyForQuery(connection: GroupConnection): void {
    for (const part of this.parts) part.handleReadyForQuery(connection as unknown as Connection);
    const mistake = this.parts.find((part) => part.mistake)?.mistake;
    if (mistake) this.forget(connection, true);
    this.callback?.(mistake, mistake ? undefined : this.parts.map(({ _result }) => _result));
  }

  /** The statement that runs. */
  private get part(): Part {
    return this.parts[Math.min(this.ended, this.parts.length - 1)];
  }

  private send(connection: GroupConnection): void {
    for (const part of this.parts) {
      part._result._types = this._result._types;
      part.prepare(connection);
      // The driver has ended the message at a value that can't be sent.
      if (part.mistake) return;
    }
    connection.sync();
  }

  /**
   * Names of statements that PostgreSQL hasn't got to.
   * @param isClosed whether PostgreSQL has closed the statement of a mistake, as the driver has asked it to
   */
  private forget({ submittedNamedStatements, parsedStatements }: GroupConnection, isClosed: boolean): void {
    for (const { name, mistake } of this.parts.slice(this.ended)) {
      if (name) delete submittedNamedStatements[name];
      if (name && mistake && isClosed) delete parsedStatements[name];
    }
  }
}
