import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { DataSource, EntityTarget } from 'typeorm';
import { replicaOf } from '../replica/reading';
import { plainEntity } from '../rows/plain-entity';
import { parseId } from '../rows/parse-id';
import type { Prefetched } from '../rows/prefetched';
import { readRow } from '../rows/read-row';
import type { ResourceEntity } from '../rows/resource.entity';
import { PerRoute } from './per-route';

declare module 'express-serve-static-core' {
  interface Request {
    prefetched?: Prefetched;
  }
}

/** What a route prefetches. */
export interface Wanted {
  entity: EntityTarget<ResourceEntity>;
  /** The path parameter that has the id. */
  name: string;
}

export const PREFETCHES = 'resource-api:prefetches';

const reflector = new Reflector();
const wantedOf = new PerRoute((handler) => reflector.get<Wanted | undefined>(PREFETCHES, handler));

/** Begins to read the row that the route of a request prefetches. */
export function prefetch(request: Request, context: ExecutionContext, database: DataSource): void {
  const wanted = wantedOf.of(context);
  // A replica may only answer when it is known what the caller has written.
  if (!wanted || replicaOf(database)) return;
  const { entity, name } = wanted;
  const id = parseId(String(request.params[name]));
  if (id === undefined || !database.hasMetadata(entity) || !plainEntity(database, entity)) return;
  const { manager } = database;
  const row = readRow(manager, entity, id);
  // Nobody awaits it if the caller is refused. AbandonedReads ends it then.
  row.catch(() => undefined);
  request.prefetched = { manager, entity, id, row };
}
