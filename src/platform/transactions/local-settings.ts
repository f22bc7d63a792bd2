import type { PoolClient, QueryResult } from 'pg';
import { settingOf } from './statement-kinds';
import { Refusal } from './transaction-refusals';

/** What a transaction has set until its end (SET LOCAL), with the values of before: a savepoint's end brings none back. */
export class LocalSettings {
  private readonly before = new Map<string, string | null>();

  /** Runs a statement that sets something. */
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

  /** They are another's to restore. */
  handTo({ before }: LocalSettings): void {
    for (const [name, value] of this.before) if (!before.has(name)) before.set(name, value);
  }
}
