import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';
import { endBackends } from '../transactions/end-backends';
import { DatabaseServer } from '../database/database-server';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { ApiError } from '../errors/api-error';
import { queueKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import { timeOuts } from '../signals/operations';
import { inListLane } from './list-lane';

/** The number of searches that may wait for a connection. Beyond it, the network with most of them gets 503. */
const MAX_WAITING = 100;
/** The number of searches without help of an index that run at once, each of another network. */
const SCANNING = 2;
/** A trigram index needs three adjacent letters or decimal digits. Any other term is compared with each row. */
const INDEXED = /[\p{L}\p{Nd}]{3}/u;
/** The same of an index that takes letters beyond ASCII for spaces: by the locale of the C library that the database has. */
const INDEXED_IN_C = /[a-z\d]{3}/i;

/** How often a part of a term may repeat itself. In a text of such parts, PostgreSQL compares so many letters at each place. */
const MAX_REPEATS = 4;

/** What the database's locale makes of letters beyond ASCII. */
interface Letters {
  /** Whether `ILIKE` knows their case. */
  folded: boolean;
  /** Whether trigrams have them. */
  indexed: boolean;
}

/**
 * Limits searches to a few connections of the pool and a short time: one search may cost as much as thousands of other
 * reads, and anybody may search.
 */
@Injectable()
export class Searches implements OnModuleInit {
  private static readonly ofDatabase = new WeakMap<DataSource, Searches>();
  private readonly logger = new Logger(Searches.name);
  private readonly all: Semaphore;
  /** Searches that no index helps much run one at a time for each network, so that they don't delay the others. */
  private readonly scanning = new Semaphore(SCANNING, MAX_WAITING, (working) => working === 0);
  private indexed = INDEXED;

  constructor(
    private readonly settings: Settings,
    private readonly server: DatabaseServer,
    @InjectDataSource() private readonly database: DataSource,
  ) {
    const connections = Math.min(settings.SEARCH_CONNECTIONS, settings.DATABASE_POOL_SIZE - 1);
    // Anybody can write texts in which a search takes all of its time: others must not have to wait for as long.
    const ofNetwork = Math.max(1, connections - 1);
    this.all = new Semaphore(connections, MAX_WAITING, (working) => working < ofNetwork);
    Searches.ofDatabase.set(database, this);
  }

  /** Finds out what the database's locale does to searches, and tells the operator where some find less. */
  async onModuleInit(): Promise<void> {
    const [{ extension }] = await this.database.query<{ extension: string | null }[]>(
      "SELECT to_regproc('show_trgm') AS extension",
    );
    const indexed = extension === null ? 'false' : "cardinality(show_trgm('жжж')) > 0";
    const [letters] = await this.database.query<Letters[]>(`SELECT 'Ж' ILIKE 'ж' AS folded, ${indexed} AS indexed`);
    if (!letters.indexed) this.indexed = INDEXED_IN_C;
    if (!letters.folded) this.logger.warn(NOT_FOLDED);
  }

  /** @throws {Error} when the module that searches isn't there */
  static of(database: DataSource): Searches {
    const searches = Searches.ofDatabase.get(database);
    if (!searches) throw new Error('Nobody has set up searches for this database');
    return searches;
  }

  /**
   * Runs the statements of a search, which must follow one after the other.
   * @param unit the unit of work of the statements. When it is called off, they end or leave the queue
   * @throws {ApiError} SERVICE_UNAVAILABLE when too many wait, or the search takes too long
   */
  run<T>(text: string, unit: UnitOfWork, statements: () => Promise<T>): Promise<T> {
    const { origin } = unit;
    const signal = unit.isOver ? unit.signal : () => unit.signal;
    const keys = queueKeysOf(origin?.ip);
    const begin = (waited: boolean) => {
      if (waited) unit.waitedLong = true;
      const limited = () => this.inLimitedTime(unit, statements);
      // Together with lists, searches leave connections to all else. Those who wait for that must not hold one.
      return unit.clients.size > 0 ? limited() : inListLane(this.database, unit, limited);
    };
    const search = (waited: boolean) => {
      if (waited) unit.waitedLong = true;
      return this.all.run(begin, signal, keys);
    };
    return this.isHelped(text) ? search(false) : this.scanning.run(search, signal, keys);
  }

  /** Whether an index finds the rows that contain a text. */
  isHelped(text: string): boolean {
    return this.indexed.test(text) && !repeatsItself(text.toLowerCase());
  }

  private async inLimitedTime<T>(unit: UnitOfWork, statements: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => void this.timeOut(unit), this.settings.SEARCH_TIMEOUT);
    try {
      return await statements();
    } catch (error) {
      throw unit.cancelled ?? error;
    } finally {
      clearTimeout(timer);
    }
  }

  private timeOut(unit: UnitOfWork): Promise<void> {
    timeOuts.add({ what: 'search' });
    const onFailure = (error: unknown) => this.logger.warn({ err: error }, 'A search was left to its own time-out');
    return endBackends(unit.cancel(tooSlow()), this.server.url, onFailure);
  }
}

/** True for a text that begins with more than some repetitions of one part, such as `abababababa`. */
function repeatsItself(text: string): boolean {
  // For each beginning, the length of its longest proper beginning that it also ends with (Knuth, Morris and Pratt).
  const borders = [0];
  for (let at = 1, border = 0; at < text.length; at++) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1];
    if (text[at] === text[border]) border++;
    borders.push(border);
    if (at + 1 > MAX_REPEATS * (at + 1 - border)) return true;
  }
  return false;
}

const NOT_FOLDED =
  "The database's locale (LC_CTYPE) knows no letters beyond ASCII: searches for them find one case only, and read every row. " +
  "Make a database of another locale, as by CREATE DATABASE ... LOCALE 'C.UTF-8' TEMPLATE template0, and move the data there.";

const tooSlow = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', { message: 'The search took too long; search for more characters' });
