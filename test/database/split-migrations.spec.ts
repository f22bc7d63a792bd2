import { DataSource, type MigrationInterface } from 'typeorm';
import { CountsOfProductsAndOrders1767441600001 } from '../../src/migrations/1767441600001-counts-of-products-and-orders';
import { SearchIndexesOfShortTexts1767550000001 } from '../../src/migrations/1767550000001-search-indexes-of-short-texts';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

/** What others did before them, in databases of that time. There they run a second time. */
const SPLIT: [name: string, migration: MigrationInterface][] = [
  ['CountsOfProductsAndOrders', new CountsOfProductsAndOrders1767441600001()],
  ['SearchIndexesOfShortTexts', new SearchIndexesOfShortTexts1767550000001()],
];

describe('A migration whose statements another one has run already', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);

  beforeAll(async () => {
    const own = new Fixtures(api, await api.user());
    for (const status of ['ACTIVE', 'ACTIVE', 'DISCONTINUED']) await own.product({ status });
    await own.order();
  });

  /** The counts, the triggers of tables, and the options of indexes. */
  async function state(): Promise<unknown> {
    const statements = [
      'SELECT table_name, status, sum(rows)::int AS rows FROM row_counts GROUP BY 1, 2 ORDER BY 1, 2',
      'SELECT tgrelid::regclass::text AS table, tgname, encode(tgargs, $$escape$$) AS args FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2',
      "SELECT relname, reloptions FROM pg_class WHERE relname LIKE '%search' ORDER BY 1",
    ];
    return Promise.all(statements.map((text) => database().query(text)));
  }

  it.each(SPLIT)('changes nothing: %s', async (_name, migration) => {
    const before = await state();
    await database().transaction(({ queryRunner }) => migration.up(queryRunner!));

    expect(JSON.stringify(before)).toMatch(/"table_name":"products","status":"ACTIVE","rows":3\b/);
    expect(await state()).toEqual(before);
  });

  it.each(SPLIT)('is reverted and made again: %s', async (_name, migration) => {
    const before = await state();
    await database().transaction(({ queryRunner }) => migration.down(queryRunner!));

    expect(await state()).not.toEqual(before);
    await database().transaction(({ queryRunner }) => migration.up(queryRunner!));
    expect(await state()).toEqual(before);
  });
});
