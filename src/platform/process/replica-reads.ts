import {
  type BeforeApplicationShutdown,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants';
import { DiscoveryService } from '@nestjs/core';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Request } from 'express';
import type { PoolConfig } from 'pg';
import { concatMap, dematerialize, materialize, Observable } from 'rxjs';
import { DataSource } from 'typeorm';
import type { Caller } from '../auth/caller';
import { Settings } from '../config/settings';
import { dataSourceOptions } from '../database/data-source';
import { isRead } from '../http/is-read';
import { EVERYBODY, recordWrite } from '../replica/positions';
import { addReplica, readingUpTo, replicaOf } from '../replica/reading';
import { leadsReads, readsPrimary } from '../replica/reads-primary';
import { Replica } from '../replica/replica';
import { isWriter } from '../transactions/writer';
import { seconds } from '../units';

type Asking = Request & { user?: Caller };

/** Lets the reads of a handler go to the replica, and remembers up to where a caller has written. */
class ThroughReplica implements NestInterceptor {
  constructor(private readonly database: DataSource) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest<Asking>();
    if (!isRead(request) || leadsReads(context)) return this.remembered(request, next);
    const position = readsPrimary(context) ? undefined : demandOf(request);
    if (position === undefined) return next.handle();
    return new Observable((subscriber) => readingUpTo(position, () => next.handle().subscribe(subscriber)));
  }

  /**
   * The answer waits until the position is recorded, whatever it is: the reason of a refusal, such as the row's new version, must be
   * seen by the next read, too, and so must what a route has told that leads reads.
   */
  private remembered({ user }: Asking, next: CallHandler<unknown>): Observable<unknown> {
    return next.handle().pipe(
      materialize(),
      concatMap(async (event) => {
        if (event.kind !== 'N') await this.remember(isWriter(user) ? user.id : EVERYBODY);
        return event;
      }),
      dematerialize(),
    );
  }

  private async remember(user: number): Promise<void> {
    const replica = replicaOf(this.database);
    try {
      const position = await recordWrite(this.database, user);
      if (user === EVERYBODY) replica?.demand(position);
    } catch {
      replica?.demand(Infinity);
    }
  }
}

/** What a read must see; undefined if that isn't known. Whoever sends no credentials has written nothing. */
function demandOf({ user, headers }: Asking): number | undefined {
  if (user) return user.position;
  return headers.authorization === undefined && headers.cookie === undefined ? 0 : undefined;
}

/** The replica of DATABASE_REPLICA_URL. Without the setting nothing of it is there. */
@Injectable()
export class ReplicaReads implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly replica?: Replica;

  constructor(settings: Settings, @InjectDataSource() database: DataSource, discovery: DiscoveryService) {
    const { DATABASE_REPLICA_URL, DATABASE_REPLICA_POOL_SIZE, DATABASE_REPLICA_MAX_LAG } = settings;
    if (DATABASE_REPLICA_URL === undefined) return;
    const { types, idleTimeoutMillis, onConnect } = dataSourceOptions(settings, DATABASE_REPLICA_URL)
      .extra as PoolConfig;
    const session = { types, idleTimeoutMillis, onConnect };
    const pool = { connectionString: DATABASE_REPLICA_URL, max: DATABASE_REPLICA_POOL_SIZE, ...session };
    this.replica = new Replica(database, { pool, maxLag: seconds(DATABASE_REPLICA_MAX_LAG) });
    addReplica(database, this.replica);
    const interceptor = new ThroughReplica(database);
    for (const { metatype } of discovery.getControllers()) if (metatype) lead(metatype, interceptor);
  }

  onApplicationBootstrap(): void {
    this.replica?.begin();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.replica?.end();
  }
}

/** Controllers are shared by the applications of a process, as in tests: each has the interceptor of the last one. */
function lead(controller: object, interceptor: ThroughReplica): void {
  const all = (Reflect.getMetadata(INTERCEPTORS_METADATA, controller) as unknown[] | undefined) ?? [];
  const others = all.filter((one) => !(one instanceof ThroughReplica));
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [interceptor, ...others], controller);
}
