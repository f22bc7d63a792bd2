import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Lock, Locker } from '@tus/server';
import { Client, DatabaseError } from 'pg';
import { ApiError } from '../../platform';
import { ConnectionError, DatabaseServer } from '../../platform/features';

/**
 * How long to wait for another holder to end, in milliseconds. One whose client has gone takes a moment to store its
 * bytes.
 */
const PATIENCE = 2_000;
const PAUSE = 50;
/** How long the database may take to answer about a lock, including the time in the queue, in milliseconds. */
const ANSWER = 5_000;
/** By default the system takes two hours to notice that the other machine has lost its power or network. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4';
const LOCK = 'pg_try_advisory_lock';
const UNLOCK = 'pg_advisory_unlock';
const NAME = "hashtextextended('resource-api: upload ' || $1, 0)";

interface Held {
  /** Asks the holder to end. */
  letGo: () => void;
  /** The connection that holds the lock, from the request for it on. */
  client?: Client;
}

/**
 * One writer for each upload across all processes and instances, by advisory locks of PostgreSQL. Each process has a
 * connection for them. It ends together with the process, however that ends, and frees its locks.
 */
@Injectable()
export class UploadLocks implements Locker, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger(UploadLocks.name);
  /** Locks held by this process. Needed because advisory locks are re-entrant per connection. */
  private readonly held = new Map<string, Held>();
  private connection: Promise<Client> | undefined;
  /** The same connection, while it is open. */
  private client: Client | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private ending = false;

  constructor(private readonly server: DatabaseServer) {}

  newLock(key: string): Lock {
    return {
      lock: (signal, letGo) => this.take(key, () => void letGo(), signal),
      unlock: () => this.release(key),
    };
  }

  /** Runs `work` while nobody else writes to the upload. @throws {ApiError} LOCKED */
  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.take(key, () => undefined);
    try {
      return await work();
    } finally {
      await this.release(key);
    }
  }

  beforeApplicationShutdown(): void {
    this.ending = true;
  }

  async onApplicationShutdown(): Promise<void> {
    const client = await this.connection?.catch(() => undefined);
    await client?.end();
  }

  private async take(key: string, letGo: () => void, signal?: AbortSignal): Promise<void> {
    for (const deadline = performance.now() + PATIENCE; ; await sleep(PAUSE)) {
      if (await this.tryToTake(key, letGo)) return;
      if (performance.now() > deadline || signal?.aborted) throw locked();
    }
  }

  private async tryToTake(key: string, letGo: () => void): Promise<boolean> {
    if (this.held.has(key)) return false;
    const mine: Held = { letGo };
    this.held.set(key, mine);
    try {
      const taken = await this.inTurn(async (since) => {
        if (performance.now() > since + ANSWER) throw new Error('Too many wait for the connection of the locks');
        mine.client = await this.connect();
        return this.ask(mine.client, LOCK, key);
      });
      if (!taken) this.held.delete(key);
      return taken;
    } catch (error) {
      this.held.delete(key);
      throw new ApiError('SERVICE_UNAVAILABLE', { cause: error });
    }
  }

  private async release(key: string): Promise<void> {
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
      connectionString: this.server.url,
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
    for (const { client: its, letGo } of this.held.values()) if (its === client) letGo();
  }
}

/** 423 for an upload that another request writes to. */
export const locked = (): ApiError => new ApiError('LOCKED');
