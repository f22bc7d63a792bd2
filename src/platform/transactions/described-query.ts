import type { Connection, QueryConfig, QueryResult } from 'pg';
import { Preparable, type WireConnection } from './limited-query';

/** By what the driver makes rows of the columns of a statement. */
interface Description {
  fields: QueryResult['fields'];
  _parsers: unknown;
  _prebuiltEmptyResultObject: object | null;
}

/** What node-postgres's connection has that its types don't declare. */
export interface NamingConnection extends WireConnection {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  sync(): void;
  close(what: { type: string; name: string }): void;
}

/** A connection that doesn't ask for the columns of a statement, as they are known. */
class DescribedConnection implements Omit<NamingConnection, keyof WireConnection> {
  /** By the names of statements. */
  readonly known = new Map<string, Description>();

  constructor(private readonly connection: NamingConnection) {}

  get parsedStatements(): Record<string, string> {
    return this.connection.parsedStatements;
  }

  get submittedNamedStatements(): Record<string, string> {
    return this.connection.submittedNamedStatements;
  }

  bind(portal: Parameters<WireConnection['bind']>[0]): void {
    this.connection.bind(portal);
  }

  execute(portal: Parameters<WireConnection['execute']>[0]): void {
    this.connection.execute(portal);
  }

  sync(): void {
    this.connection.sync();
  }

  close(what: { type: string; name: string }): void {
    this.connection.close(what);
  }

  describe(): void {}
}

const connections = new WeakMap<object, DescribedConnection>();

function describedOf(connection: NamingConnection): DescribedConnection {
  let described = connections.get(connection);
  if (!described) connections.set(connection, (described = new DescribedConnection(connection)));
  return described;
}

/** What node-postgres's query has that its types don't declare. */
interface DescribableQuery {
  _result: Description;
  _accumulateRows?: boolean;
  hasBeenParsed(connection: NamingConnection): boolean;
}

const Describable = Preparable as unknown as new (
  ...options: unknown[]
) => InstanceType<typeof Preparable> & DescribableQuery;

/**
 * A statement whose columns the driver asks for only once on each connection, if it has a name. PostgreSQL never gives a named
 * statement other columns: it refuses the statement instead. To read and keep the description of eleven columns takes 10 µs.
 */
export class DescribedQuery extends Describable {
  private described?: DescribedConnection;

  /** Undefined for a statement without a name, or with options of the driver. @param values of its own, if it brings none */
  static of(statement: unknown, values: unknown): DescribedQuery | undefined {
    if (typeof values === 'function' || !isNamed(statement)) return undefined;
    // The driver copies options slowly.
    const query = new DescribedQuery(statement.text, values ?? statement.values);
    query.name = statement.name;
    return query;
  }

  override prepare(connection: WireConnection): void {
    const { name } = this;
    if (!name) return super.prepare(connection);
    const described = describedOf(connection as NamingConnection);
    const known = this.hasBeenParsed(connection as NamingConnection) ? described.known.get(name) : undefined;
    if (!known) {
      this.described = described;
      return super.prepare(connection);
    }
    const { _result: result } = this;
    result.fields = known.fields;
    result._parsers = known._parsers;
    result._prebuiltEmptyResultObject = known._prebuiltEmptyResultObject;
    this._accumulateRows = true;
    super.prepare(described as unknown as WireConnection);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    const { described, _result: result } = this;
    if (described) {
      const { fields, _parsers, _prebuiltEmptyResultObject } = result;
      described.known.set(this.name!, { fields, _parsers, _prebuiltEmptyResultObject });
      this.described = undefined;
    }
    super.handleCommandComplete(message, connection);
  }
}

const OWN = new Set(['name', 'text', 'values']);

/** Whether a statement has a name and no options of the driver. */
function isNamed(statement: unknown): statement is QueryConfig {
  if (typeof statement !== 'object' || statement === null) return false;
  const { name, text } = statement as Partial<QueryConfig>;
  return typeof name === 'string' && typeof text === 'string' && Object.keys(statement).every((key) => OWN.has(key));
}
