import type { PoolClient } from 'pg';
import { CleanPool, type OnConnection } from './clean-pool';
import { IDLE_TIMES, PooledClient } from './pooled-client';
import { UnitOfWork } from './unit-of-work';

/** The additional properties of a pool's client. */
interface LimitedClient extends PoolClient {
  /** The statement timeout in milliseconds, if it differs from that of the session's start. */
  statementLimit?: number;
}

/** The driver's pool, which sets the statement timeout of the current unit of work. */
export class LimitedPool extends CleanPool {
  override connect(): Promise<PoolClient>;
  override connect(onConnection: OnConnection): void;
  override connect(onConnection?: OnConnection): Promise<PoolClient> | void {
    const limit = UnitOfWork.current()?.statementLimit;
    if (onConnection) return this.connectWith(limit, onConnection);
    return new Promise((resolve, reject) => {
      this.connectWith(limit, (error, client) => (client ? resolve(client) : reject(error!)));
    });
  }

  private connectWith(limit: number | undefined, onConnection: OnConnection): void {
    super.connect((error, client, release) => {
      // Its statements bring their limit along.
      if (client instanceof PooledClient) Object.assign(client, { statementLimit: limit });
      if (!client || (client as LimitedClient).statementLimit === limit) return onConnection(error, client, release);
      client.query(settingsFor(limit)).then(
        () => {
          (client as LimitedClient).statementLimit = limit;
          onConnection(undefined, client, release);
        },
        (failure: Error) => {
          release(failure);
          onConnection(failure, undefined, nothing);
        },
      );
    });
  }
}

const nothing = (): void => undefined;

function settingsFor(limit: number | undefined): string {
  if (limit === undefined) return 'RESET statement_timeout; RESET idle_in_transaction_session_timeout';
  return `SET statement_timeout = ${limit}; SET idle_in_transaction_session_timeout = ${IDLE_TIMES * limit}`;
}
