import type { PoolClient } from 'pg';
import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';
import type { LentClient } from './observed-commits';

type Release = (error?: Error) => void;

/**
 * TypeORM's query runner, whose connection keeps no request in memory. TypeORM's own connect() assigns a function to a
 * property at once, so V8 allocates it in the old generation, with all that it refers to: the runner, its rows, and the request.
 */
export class LentRunner extends PostgresQueryRunner {
  /** Called for each statement when it is sent on the runner's connection, if that is of the service's own pool. */
  noteSent(_text: string): void {}

  override connect(): Promise<unknown> {
    if (this.databaseConnection) return Promise.resolve(this.databaseConnection);
    this.databaseConnectionPromise ??= this.obtain().then(([client, release]) =>
      this.take(client as LentClient, release as Release),
    );
    return this.databaseConnectionPromise;
  }

  private obtain() {
    const { driver, mode } = this;
    return mode === 'slave' && driver.isReplicated ? driver.obtainSlaveConnection() : driver.obtainMasterConnection();
  }

  private take(client: LentClient, release: Release): PoolClient {
    // A release while it connects has nothing to give back yet, and the connection would never be.
    if (this.isReleased) {
      release();
      throw new QueryRunnerAlreadyReleasedError();
    }
    const onError = (error: Error) => void this.giveBack(error);
    const giveBack: Release = (error) => {
      client.off('error', onError);
      client.runner = undefined;
      release(error);
    };
    this.releaseCallback = giveBack;
    this.driver.connectedQueryRunners.push(this);
    this.databaseConnection = client;
    client.runner = this;
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
