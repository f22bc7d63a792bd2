import { Logger } from '@nestjs/common';
import { Client, DatabaseError } from 'pg';
import { ConnectionError } from '../../platform/features';
import type { LockKeeper } from './lock-keeper';

/** How long the database may take to answer about a lock, including the time in the queue, in milliseconds. */
const ANSWER = 5_000;
/** By default the system takes two hours to notice that the other machine has lost its power or network. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4';
const LOCK = 'pg_try_advisory_lock';
const UNLOCK = 'pg_advisory_unlock';
const NAME = "hashtextextended('resource-api: upload ' || $1, 0)";

interface Held {
  client: Client;
  onLost: () => void;
}

/**
 * Advisory locks of one session of PostgreSQL. The connection ends together with the process, however that ends, and
 * frees its locks.
 */
export class SessionLocks implements LockKeeper {
  private readonly logger = new Logger(SessionLocks.name);
  private readonly held = new Map<string, Held>();
  private connection: Promise<Client> | undefined;
  /** The same connection, while it is open. */
  private client: Client | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private ending = false;

  constructor(private readonly databaseUrl: string) {}

  take(key: string, onLost: () => void): Promise<boolean> {
    return this.inTurn(async (since) => {
      if (performance.now() > since + ANSWER) throw new Error('Too many wait for the connection of the locks');
      const client = await this.connect();
      this.held.set(key, { client, onLost });
      const taken = await this.ask(client, LOCK, key).catch((error: unknown) => {
        this.held.delete(key);
        throw error;
      });
      if (!taken) this.held.delete(key);
      return taken;
    });
  }

  async release(key: string): Promise<void> {
    const client = this.held.get(key)?.client;
    try {
      // Without its connection the lock is gone anyway.
      await this.inTurn(async () => client === this.client && client && this.ask(client, UNLOCK, key));
    } catch (error) {
      this.logger.warn({ err: error }, 'A lock went with its connection');
    } finally {
      this.held.delete(key);
    }
  }

  expectEnd(): void {
    this.ending = true;
  }

  removeStale(): Promise<void> {
    // The server has forgotten them.
    return Promise.resolve();
  }

  async close(): Promise<void> {
    const client = await this.connection?.catch(() => undefined);
    await client?.end();
  }

  /** Runs statements in sequence. @param work called with the time since when it has waited */
  private inTurn<T>(work: (since: number) => Promise<T>): Promise<T> {
    const since = performance.now();
    const result = this.last.then(() => work(since));
    this.last = result.catch(() => undefined);
    return result;
  }

  /**
   * Asks the database. If it isn't known what has become of a lock, the connection is closed with all locks, so that
   * none is left without a holder.
   */
  private async ask(client: Client, what: string, key: string): Promise<boolean> {
    try {
      const { rows } = await client.query<{ done: boolean }>(`SELECT ${what}(${NAME}) AS done`, [key]);
      return rows[0].done;
    } catch (error) {
      // If the database refuses a lock by an error, none was taken.
      if (what === UNLOCK || !(error instanceof DatabaseError)) this.giveUp(client);
      throw error;
    }
  }

  private connect(): Promise<Client> {
    return (this.connection ??= this.open().catch((error: unknown) => {
      this.connection = undefined;
      throw error;
    }));
  }

  private async open(): Promise<Client> {
    const client = new Client({
      connectionString: this.databaseUrl,
      application_name: 'resource-api locks',
      keepAlive: true,
      connectionTimeoutMillis: ANSWER,
      query_timeout: ANSWER,
    });
    // At the end the connection may close together with an embedded database.
    client.on('error', (error) => {
      if (!this.ending) this.logger.warn({ err: error }, 'The connection of the locks was lost');
    });
    client.once('end', () => this.forget(client));
    await client.connect().catch((error: unknown) => {
      throw new ConnectionError(error);
    });
    await client.query(KEEPALIVE);
    return (this.client = client);
  }

  /** Closes the connection, at once if a statement runs. */
  private giveUp(client: Client): void {
    this.forget(client);
    void client.end();
  }

  /** Tells the holders that their locks are lost. */
  private forget(client: Client): void {
    if (this.client === client) this.connection = this.client = undefined;
    for (const { client: its, onLost } of this.held.values()) if (its === client) onLost();
  }
}
