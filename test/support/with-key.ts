import type { DataSource, EntityManager } from 'typeorm';
import { UnitOfWork } from '../../src/platform';
import { inOneTransaction } from '../../src/platform/database/api-data-source';

/** Works as a request with an `Idempotency-Key` does: all that uses the database is one transaction. */
export const withKey = <T>(database: DataSource, work: (manager: EntityManager) => Promise<T>): Promise<T> =>
  new UnitOfWork().run(() => inOneTransaction(database, (_client, sharing) => sharing(() => work(database.manager))));
