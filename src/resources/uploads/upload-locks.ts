import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Lock, Locker } from '@tus/server';
import { Client } from 'pg';
import { ApiError } from '../../conventions/errors/api-error';
import { ConnectionError } from '../../database/connection-error';
import { DatabaseServer } from '../../database/database-server';

/** How long to wait for the other to end, in milliseconds: one whose client is gone takes a moment to store what came. */
const PATIENCE = 2_000;
const PAUSE = 50;
const NAME = "hashtextextended('resource-api: upload ' || $1, 0)";

/**
 * One writer for each upload, across all processes and instances: advisory locks of PostgreSQL, on a connection that each
 * process has for them alone. When the process ends, however it does, so does the connection, and its locks are free.
 */
@Injectable()
export class UploadLocks implements Locker, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger(UploadLocks.name);
  /** Those of this process, each with what asks its holder to end: the connection would give each of them twice. */
  private readonly held = new Map<string, () => void>();
  private connection: Promise<Client> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private ending = false;

  constructor(private readonly server: DatabaseServer) {}

  newLock(key: string): Lock {
    return {
      lock: (signal, letGo) => this.take(key, () => void letGo(), signal),
      unlock: () => this.release(key),
    };
  }

  /** Runs `work` while nobody writes to the upload. @throws {ApiError} LOCKED */
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
    this.held.set(key, letGo);
    try {
      const taken = await this.ask('pg_try_advisory_lock', key);
      if (!taken) this.held.delete(key);
      return taken;
    } catch (error) {
      this.held.delete(key);
      throw error;
    }
  }

  private async release(key: string): Promise<void> {
    try {
      await this.ask('pg_advisory_unlock', key);
    } catch (error) {
      // Without its connection there is no lock either.
      this.logger.warn({ err: error }, 'A lock went with its connection');
    } finally {
      this.held.delete(key);
    }
  }

  /** One after the other, as a connection does it. */
  private ask(what: string, key: string): Promise<boolean> {
    const answer = this.last.then(async () => {
      const client = await this.connect();
      const { rows } = await client.query<{ done: boolean }>(`SELECT ${what}(${NAME}) AS done`, [key]);
      return rows[0].done;
    });
    this.last = answer.catch(() => undefined);
    return answer;
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
      connectionTimeoutMillis: 5_000,
    });
    // At the end it may go together with an embedded database.
    client.on('error', (error) => {
      if (!this.ending) this.logger.warn({ err: error }, 'The connection of the locks was lost');
    });
    client.once('end', () => {
      this.connection = undefined;
      // Others may take these locks from now on.
      for (const letGo of this.held.values()) letGo();
    });
    await client.connect().catch((error: unknown) => {
      throw new ConnectionError(error);
    });
    return client;
  }
}

/** 423 for an upload that another request writes to. */
export const locked = (): ApiError => new ApiError('LOCKED');
