import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';
import { endBackends } from '../transactions/cancellable-pool';
import { DatabaseServer } from '../database/database-server';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { ApiError } from '../errors/api-error';
import { lineKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import { noteWait } from './waits';

/** Searches that may wait for a connection; of more, those of the network that has most are 503. */
const MAX_WAITING = 100;
/** What an index of trigrams can find: three letters or digits beside each other. Anything less is compared with each row. */
const INDEXED = /[\p{L}\p{N}]{3}/u;

/**
 * Gives searches a few connections of the pool and a short time: one of them can cost as much as thousands of other reads,
 * and anyone may search.
 */
@Injectable()
export class Searches {
  private static readonly ofDatabase = new WeakMap<DataSource, Searches>();
  private readonly logger = new Logger(Searches.name);
  private readonly all: Semaphore;
  /** Those that no index helps don't keep the others waiting. */
  private readonly scanning = new Semaphore(1, MAX_WAITING);

  constructor(
    private readonly settings: Settings,
    private readonly server: DatabaseServer,
    @InjectDataSource() database: DataSource,
  ) {
    const connections = Math.min(settings.SEARCH_CONNECTIONS, settings.DATABASE_POOL_SIZE - 1);
    this.all = new Semaphore(connections, MAX_WAITING);
    Searches.ofDatabase.set(database, this);
  }

  /** @throws {Error} when the module that searches isn't there */
  static of(database: DataSource): Searches {
    const searches = Searches.ofDatabase.get(database);
    if (!searches) throw new Error('Nobody has set up searches for this database');
    return searches;
  }

  /**
   * Runs the statements of a search, which are to come one after the other.
   * @param unit what they belong to; when it is called off, they end or leave the queue
   * @throws {ApiError} SERVICE_UNAVAILABLE when too many wait, or it takes too long
   */
  run<T>(text: string, unit: UnitOfWork, statements: () => Promise<T>): Promise<T> {
    const { signal, origin } = unit;
    const keys = lineKeysOf(origin?.ip);
    const begin = (waited: boolean) => {
      if (waited) noteWait(unit);
      return this.inLimitedTime(unit, statements);
    };
    const search = (waited: boolean) => {
      if (waited) noteWait(unit);
      return this.all.run(begin, signal, keys);
    };
    return INDEXED.test(text) ? search(false) : this.scanning.run(search, signal, keys);
  }

  private async inLimitedTime<T>(unit: UnitOfWork, statements: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => void this.end(unit, tooSlow()), this.settings.SEARCH_TIMEOUT);
    try {
      return await statements();
    } catch (error) {
      throw unit.cancelled ?? error;
    } finally {
      clearTimeout(timer);
    }
  }

  private end(unit: UnitOfWork, reason: Error): Promise<void> {
    const onFailure = (error: unknown) => this.logger.warn({ err: error }, 'A search was left to its own time-out');
    return endBackends(unit.cancel(reason), this.server.url, onFailure);
  }
}

const tooSlow = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', { message: 'The search took too long; search for more characters' });
