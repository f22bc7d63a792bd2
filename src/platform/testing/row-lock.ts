import { Client } from 'pg';
import { waitFor } from './wait-for';

/** Another transaction, which keeps a row or a table locked until it is released. */
export class RowLock {
  private constructor(private readonly client: Client) {}

  static of(databaseUrl: string, table: string, id: number): Promise<RowLock> {
    return RowLock.by(databaseUrl, `SELECT 1 FROM ${table} WHERE id = ${id} FOR UPDATE`);
  }

  /** Locks a table, even against reading. */
  static ofTable(databaseUrl: string, table: string): Promise<RowLock> {
    return RowLock.by(databaseUrl, `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  }

  /** Locks a table against writing. */
  static ofWrites(databaseUrl: string, table: string): Promise<RowLock> {
    return RowLock.by(databaseUrl, `LOCK TABLE ${table} IN SHARE MODE`);
  }

  /** Keeps a table as it is, as one that has written to it. */
  static ofWriters(databaseUrl: string, table: string): Promise<RowLock> {
    return RowLock.by(databaseUrl, `LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`);
  }

  private static async by(databaseUrl: string, statement: string): Promise<RowLock> {
    const client = new Client({ connectionString: databaseUrl });
    // A database may disappear together with its locks.
    client.on('error', () => undefined);
    await client.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return new RowLock(client);
  }

  /**
   * The number of connections that wait for a lock.
   * @param except a LIKE pattern of statements that don't count, such as those of a job, which may run at any time.
   * Default: all count
   */
  async waiting(except = ''): Promise<number> {
    // Otherwise a transaction would always see the same activity.
    await this.client.query('SELECT pg_stat_clear_snapshot()');
    const text =
      "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE $1";
    return (await this.client.query<{ count: number }>(text, [except])).rows[0].count;
  }

  /** Resolves when this number of connections wait for a lock. */
  awaitedBy(count: number): Promise<void> {
    return waitFor(async () => (await this.waiting()) === count);
  }

  /** Changes the locked row and commits, so that waiting transactions see the change. */
  async change(text: string, values: unknown[]): Promise<void> {
    await this.client.query(text, values);
    await this.client.query('COMMIT');
  }

  release(): Promise<void> {
    return this.client.end();
  }
}
