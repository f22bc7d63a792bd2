import { Client, type QueryConfig } from 'pg';
import { DataSource } from 'typeorm';
import { paginate } from '../../src/platform';
import { LargestSize } from '../../src/platform/answers/largest-size';
import { LARGEST } from '../../src/platform/lists/list-query';
import { addReplica, readingUpTo } from '../../src/platform/replica/reading';
import { findCountedTables } from '../../src/platform/rows/counted-tables';
import { statementsOf, times } from '../../src/platform/testing';
import { poolOf } from '../../src/platform/transactions/cancellable-pool';
import { ProductDto } from '../../src/resources/products/product.dto';
import { Product } from '../../src/resources/products/product.entity';
import { useTestApi } from '../support/test-api';

const ROWS = 3_000;
const HIDDEN = 2_000;
const SIZE = 20;
/** The length of a description of which a page of 100 weighs too much. */
const LONG = 2_000;
const STARTED = 'extract(epoch FROM pg_postmaster_start_time())';

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

describe('What a page costs that is read from a place of an earlier one', () => {
  const api = useTestApi();
  const query = <T extends object>(text: string) => api.app.nest.get(DataSource).query<T[]>(text);
  const page = (number: number, size = SIZE) => api.get(`/products?page=${number}&size=${size}&sort=id`);

  beforeEach(async () => {
    await query('DELETE FROM products');
    await query(`INSERT INTO products (name, price) SELECT md5(n::text), 1 FROM generate_series(1, ${ROWS}) AS n`);
    await query('ANALYZE products');
  });

  /** What is sent with counts. */
  async function sentBy(ask: () => Promise<unknown>): Promise<QueryConfig[]> {
    const sent: QueryConfig[] = [];
    const { query: send } = Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
    const spy = jest.spyOn(Client.prototype as never, 'query').mockImplementation(function (
      this: Client,
      ...given: unknown[]
    ) {
      const [config] = given as [QueryConfig];
      if (config.text?.includes('FROM row_counts')) sent.push(config);
      return send.apply(this, given);
    } as never);
    await ask().finally(() => spy.mockRestore());
    return sent;
  }

  /** The nodes of the plans of what is sent with counts, for any values, that read products. */
  async function plansOf(ask: () => Promise<unknown>): Promise<Plan[]> {
    const sent = await sentBy(ask);
    const client = new Client(api.app.databaseUrl);
    await client.connect();
    await client.query('SET plan_cache_mode = force_generic_plan');
    const plans: Plan[] = [];
    for (const [index, { text, values = [] }] of sent.entries()) {
      await client.query(`PREPARE sent_${index} AS ${text}`);
      const given = values.map((value) => client.escapeLiteral(String(value))).join();
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE sent_${index}(${given})`,
      );
      plans.push(...nodesIn(rows[0]['QUERY PLAN'][0].Plan).filter((node) => node['Relation Name'] === 'products'));
    }
    await client.end();
    return plans;
  }

  const nodesIn = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesIn)];
  const passedOver = (plans: Plan[]) =>
    plans.reduce((sum, { 'Rows Removed by Filter': removed = 0 }) => sum + removed, 0);

  it('has nothing to do with rows that are hidden behind all others', async () => {
    const [{ from }] = await query<{ from: number }>(`SELECT max(id) - ${HIDDEN} AS from FROM products`);
    await query(`INSERT INTO products (name, price) SELECT 'Last', 1 FROM generate_series(1, ${ROWS})`);
    await query(`UPDATE products SET deleted_at = now() WHERE id > ${from + HIDDEN}`);

    // When the place is found, and when it is known.
    for (const number of [60, 60, 61]) {
      const plans = await plansOf(() => page(number));
      expect(plans.length).toBeGreaterThan(1);
      expect(passedOver(plans)).toBe(0);
    }
  });

  it('has nothing to do with where the rows are in the table', async () => {
    await query('DELETE FROM products');
    await query(
      `INSERT INTO products (id, name, price)
       SELECT 1000000 + n, 'Anywhere', 1 FROM generate_series(1, ${3 * ROWS}) AS n ORDER BY md5(n::text)`,
    );
    await query('ANALYZE products');
    await page(60);
    const plans = await plansOf(() => page(60));

    expect(plans.length).toBeGreaterThan(1);
    expect(plans).not.toContainEqual(expect.objectContaining({ 'Node Type': 'Seq Scan' }));
  });

  it('is that of a plan that is made once', async () => {
    await query('CLUSTER products USING products_pkey');
    await query('VACUUM ANALYZE products');
    await page(60);
    const sent = await sentBy(() => page(61));
    const client = new Client(api.app.databaseUrl);
    await client.connect();
    for (const statement of sent) for (let times = 0; times < 10; times++) await client.query(statement);
    const { rows } = await client.query('SELECT custom_plans::int, generic_plans::int FROM pg_prepared_statements');
    await client.end();

    // PostgreSQL looks at five before.
    expect(rows).toEqual([{ custom_plans: 5, generic_plans: 5 }]);
  });

  it('is that of before where rows weigh too much', async () => {
    await page(14, 100);
    await query(`UPDATE products SET description = repeat('ä', ${LONG})`);
    await page(15, 100);

    // The total, the rows if they are light, and which ones they are.
    const sent = await statementsOf(() => page(16, 100));
    expect(sent.filter((text) => text.includes('of rows"'))).toEqual([]);
  });

  it('is that of before where rows are those of several tables, which may go unnoticed', async () => {
    const database = api.app.nest.get(DataSource);
    await query('CREATE TABLE other_products () INHERITS (products)');
    await findCountedTables(database);

    const sent = await statementsOf(() => page(60));
    expect(sent.filter((text) => text.includes('of rows"'))).toEqual([]);
    await query('DROP TABLE other_products');
    await query('ANALYZE products');
    await findCountedTables(database);
  });

  it('is one more statement for each row that is removed', async () => {
    await page(60);
    for (const number of times(3, (index) => 61 + index)) {
      await query('DELETE FROM products WHERE id = (SELECT min(id) FROM products)');

      // Those that don't find the place, see why, and find the page.
      expect(await statementsOf(() => page(number))).toHaveLength(3);
    }
  });

  it('is one statement at each server, whichever has answered before', async () => {
    const database = api.app.nest.get(DataSource);
    // As a server that was started at another time.
    const read = ({ text, ...config }: QueryConfig) =>
      poolOf(database).queryShared({ ...config, name: undefined, text: text.replace(STARTED, `(${STARTED} - 1)`) });
    addReplica(database, { serves: () => true, read } as never);
    const query = { size: SIZE, sort: 'id', [LARGEST]: LargestSize.of(ProductDto) };
    const list = (number: number) => paginate(api.repository(Product), { ...query, page: number });
    const listAtReplica = (number: number) => readingUpTo(0, () => list(number));
    await list(60);
    await listAtReplica(60);

    for (const number of [61, 62]) {
      expect(await statementsOf(() => list(number))).toHaveLength(1);
      expect(await statementsOf(() => listAtReplica(number))).toHaveLength(1);
    }
  });
});
