import type { PoolClient, QueryResult } from 'pg';
import { settingOf } from './statement-kinds';
import { Refusal } from './transaction-refusals';

/**
 * Settings that a transaction has changed until its end (SET LOCAL), with their previous values. They must be restored
 * by hand, because releasing a savepoint doesn't restore them.
 */
export class LocalSettings {
  private readonly before = new Map<string, string | null>();

  /** Runs a statement that changes a setting. */
  async set(client: PoolClient, text: string, values?: unknown[]): Promise<QueryResult> {
    const name = settingOf(text);
    if (!name) throw Refusal.setting();
    if (!this.before.has(name)) {
      const { rows } = await client.query<{ value: string | null }>('SELECT current_setting($1, true) AS value', [
        name,
      ]);
      this.before.set(name, rows[0].value);
    }
    return client.query(text, values);
  }

  async restore(client: PoolClient): Promise<void> {
    for (const [name, value] of this.before) await client.query('SELECT set_config($1, $2, true)', [name, value ?? '']);
  }

  /** Passes the previous values on to the transaction around this one, which restores them. */
  handTo({ before }: LocalSettings): void {
    for (const [name, value] of this.before) if (!before.has(name)) before.set(name, value);
  }
}
