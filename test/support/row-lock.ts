import { Client } from 'pg';
import { waitFor } from './wait-for';

/** What jobs look for. */
const OF_JOBS = "%status = 'PENDING' AND expires_at < now()%";

/** A transaction of somebody else, which keeps a row or a table locked until it is let go. */
export class RowLock {
  private constructor(private readonly client: Client) {}

  static ofUser(databaseUrl: string, id: number): Promise<RowLock> {
    return RowLock.of(databaseUrl, 'users', id);
  }

  static of(databaseUrl: string, table: string, id: number): Promise<RowLock> {
    return RowLock.by(databaseUrl, `SELECT 1 FROM ${table} WHERE id = ${id} FOR UPDATE`);
  }

  /** Of a whole table, which nobody can even read meanwhile. */
  static ofTable(databaseUrl: string, table: string): Promise<RowLock> {
    return RowLock.by(databaseUrl, `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  }

  /** Of a whole table, which everybody can read and nobody can write meanwhile. */
  static ofWrites(databaseUrl: string, table: string): Promise<RowLock> {
    return RowLock.by(databaseUrl, `LOCK TABLE ${table} IN SHARE MODE`);
  }

  private static async by(databaseUrl: string, statement: string): Promise<RowLock> {
    const client = new Client({ connectionString: databaseUrl });
    // A database may go away with its locks.
    client.on('error', () => undefined);
    await client.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return new RowLock(client);
  }

  /** How many connections wait for it; not the jobs of the service, which come when their time has come. */
  async waiting(): Promise<number> {
    // Otherwise a transaction sees the same activity for as long as it lasts.
    await this.client.query('SELECT pg_stat_clear_snapshot()');
    const text =
      "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE $1";
    return (await this.client.query<{ count: number }>(text, [OF_JOBS])).rows[0].count;
  }

  /** Resolves when so many connections wait for it. */
  awaitedBy(count: number): Promise<void> {
    return waitFor(async () => (await this.waiting()) === count);
  }

  /** Changes what is locked, for whoever waits for it to see. */
  async change(text: string, values: unknown[]): Promise<void> {
    await this.client.query(text, values);
    await this.client.query('COMMIT');
  }

  release(): Promise<void> {
    return this.client.end();
  }
}
