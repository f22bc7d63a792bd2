import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';
import { ApiError } from '../errors/api-error';
import { notExportable } from '../exports/not-exportable';
import { neighbourhoodOf, networkOf } from '../limits/client-network';
import type { QueueKey } from '../limits/fair-queue';
import { Semaphore } from '../limits/semaphore';
import { hasOwnPool, poolOf } from '../transactions/cancellable-pool';
import { leavesConnections } from '../transactions/connection-scheduler';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { isWriter } from '../transactions/writer';
import { SECONDS_PER_MINUTE } from '../units';

/** Connections of the pool that exports leave to all else. A pool of two leaves one. */
const LEFT = 2;
/** The time in seconds after which it is worth asking again. */
const AGAIN = SECONDS_PER_MINUTE / 6;

/** What an export holds, and gives back. */
export interface ExportPlace {
  /** The caller may begin another one. */
  leaveCaller: () => void;
  /** The connection is free. */
  leave: () => void;
}

/**
 * The exports that run at once in this process. Each holds a connection for as long as its client reads, so nobody waits
 * for a place: a caller has one, a neighbourhood leaves one to others, and whoever finds none is told when to ask again.
 */
@Injectable()
export class ExportPlaces {
  private static readonly ofDatabase = new WeakMap<DataSource, ExportPlaces>();
  private readonly places: Semaphore;
  private readonly callers = new Set<QueueKey>();

  constructor(
    readonly settings: Settings,
    @InjectDataSource() database: DataSource,
  ) {
    const { DATABASE_POOL_SIZE: size, EXPORT_CONNECTIONS } = settings;
    const places = Math.max(1, Math.min(EXPORT_CONNECTIONS, size - LEFT));
    const mayBegin = (ofNeighbourhood: number, free: number, _narrowest: number, together: number) =>
      ofNeighbourhood === 0 || (free > 1 && leavesConnections(together, size));
    const together = hasOwnPool(database) ? poolOf(database).permits : undefined;
    this.places = new Semaphore(places, 0, mayBegin, together);
    ExportPlaces.ofDatabase.set(database, this);
  }

  /** @throws {ApiError} NOT_ACCEPTABLE for another database than that of the service */
  static of(database: DataSource): ExportPlaces {
    const places = ExportPlaces.ofDatabase.get(database);
    if (!places) throw notExportable('its rows are in another database than that of the service');
    return places;
  }

  /**
   * Takes a place for a request.
   * @throws {ApiError} SERVICE_UNAVAILABLE when there is none
   */
  take({ origin }: UnitOfWork): ExportPlace {
    const caller = isWriter(origin?.user) ? origin.user.id : networkOf(origin?.ip);
    if (this.callers.has(caller)) throw noPlace('Your other export must end first');
    const keys = [neighbourhoodOf(origin?.ip)];
    if (!this.places.take(keys)) throw noPlace('Too many exports run already');
    this.callers.add(caller);
    return { leaveCaller: () => this.callers.delete(caller), leave: () => this.places.release(keys) };
  }
}

const noPlace = (message: string): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', { message, headers: { 'Retry-After': String(AGAIN) } });
