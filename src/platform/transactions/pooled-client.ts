import { Client, type ClientConfig, Connection, type QueryConfig, type Submittable } from 'pg';
import { prepareValue } from 'pg/lib/utils';
import { seconds } from '../units';
import { LimitedQuery } from './limited-query';
import { requireNoSession } from './session-statements';
import type { Statement } from './statement-group';

/** How long a session may be idle in a transaction, as a multiple of the statement timeout. */
export const IDLE_TIMES = 2;

/** How long the pooler may take to pass a cancellation on, in milliseconds. */
const PATIENCE = seconds(5);

export interface PooledClientConfig extends ClientConfig {
  /** The time limit of statements whose unit of work has none, in milliseconds. */
  statementLimit?: number;
}

/** What node-postgres's client has that its types don't declare. */
interface Internals {
  connectionParameters: { host: string; port: number };
  ssl: unknown;
  sslNegotiation: string;
  processID: number;
  secretKey: number;
}

/** What node-postgres's connection has that its types don't declare. */
interface CancellingConnection extends Connection {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}

/** A connection to a pooler that gives each transaction a session of its choice (`DATABASE_POOLER=transaction`). */
export class PooledClient extends Client {
  private readonly standardLimit: number;
  /** The time limit of the current unit of work in milliseconds; 0 for none. Default: that of requests */
  statementLimit?: number;

  constructor({ statementLimit = 0, ...config }: PooledClientConfig = {}) {
    super(config);
    this.standardLimit = statementLimit;
  }

  /** It returns what the many overloads of its type say, none of which TypeScript can infer here. */
  override query(statement: unknown, values?: unknown, callback?: unknown): never {
    return this.run(statement, values, callback) as never;
  }

  /**
   * Cancels what runs, and closes the connection. Its process id is the pooler's own invention, so that no session can
   * be ended by it. The pooler keeps a running statement when its client has gone, so it is cancelled first.
   */
  async abandon(): Promise<void> {
    try {
      await this.cancelStatement();
    } finally {
      await this.end();
    }
  }

  private run(statement: unknown, values?: unknown, callback?: unknown): unknown {
    // A cursor or a copy of rows. It holds its session until it has ended.
    if (typeof (statement as { submit?: unknown }).submit === 'function') return super.query(statement as Submittable);
    const limit = this.statementLimit ?? this.standardLimit;
    const limits = { statement: limit, idle: IDLE_TIMES * limit };
    const limited = new LimitedQuery(this, limits, statement as string | QueryConfig, values, callback);
    requireNoSession(limited.text);
    const { callback: onResult } = limited;
    limited.callback = undefined;
    if (onResult) return void super.query(limited, onResult);
    return new Promise((resolve, reject) => {
      super.query(limited, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }

  private async cancelStatement(): Promise<void> {
    const { connectionParameters, ssl, sslNegotiation, processID, secretKey } = this as unknown as Internals;
    const { host, port } = connectionParameters;
    const connection = new Connection({ ssl, sslNegotiation } as never) as CancellingConnection;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The pooler did not take a cancellation')), PATIENCE);
      const cancel = () => connection.cancel(processID, secretKey);
      connection.once('connect', () => (!ssl ? cancel() : sslNegotiation === 'direct' || connection.requestSsl()));
      connection.once('sslconnect', cancel);
      connection.on('error', reject);
      // The pooler hangs up when it has passed the cancellation on.
      connection.once('end', () => resolve(clearTimeout(timer)));
      if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
      else connection.connect(port, host);
    }).finally(() => connection.stream.destroy());
  }
}

/**
 * Statements with their values as they are sent.
 * @throws {Error} for one that can't be sent: those behind it would be run without it
 */
export function sendable(statements: Statement[]): Statement[] {
  return statements.map(({ text, values }) => {
    requireNoSession(text);
    return { text, values: values?.map(prepareValue) };
  });
}
