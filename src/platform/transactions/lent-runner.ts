import type { PoolClient } from 'pg';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';

type Release = (error?: Error) => void;

/**
 * TypeORM's query runner, whose connection keeps no request in memory. TypeORM's own connect() assigns a function to a
 * property at once, so V8 allocates it in the old generation, with all that it refers to: the runner, its rows, and the request.
 */
export class LentRunner extends PostgresQueryRunner {
  override connect(): Promise<unknown> {
    if (this.databaseConnection) return Promise.resolve(this.databaseConnection);
    this.databaseConnectionPromise ??= this.obtain().then(([client, release]) =>
      this.take(client as PoolClient, release as Release),
    );
    return this.databaseConnectionPromise;
  }

  private obtain() {
    const { driver, mode } = this;
    return mode === 'slave' && driver.isReplicated ? driver.obtainSlaveConnection() : driver.obtainMasterConnection();
  }

  private take(client: PoolClient, release: Release): PoolClient {
    const onError = (error: Error) => void this.giveBack(error);
    const giveBack: Release = (error) => {
      client.off('error', onError);
      release(error);
    };
    this.releaseCallback = giveBack;
    this.driver.connectedQueryRunners.push(this);
    this.databaseConnection = client;
    client.on('error', onError);
    return client;
  }

  /** What TypeORM does when a connection is lost, which its types call private. */
  private giveBack(error: Error): Promise<void> {
    const { releasePostgresConnection } = this as unknown as {
      releasePostgresConnection: (error: Error) => Promise<void>;
    };
    return releasePostgresConnection.call(this, error);
  }
}
