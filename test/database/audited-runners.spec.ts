import { DataSource, MoreThan, type QueryRunner } from 'typeorm';
import { AuditEvent, UnitOfWork } from '../../src/platform';
import { findAuditedTables } from '../../src/platform/transactions/audited-tables';
import { runWrite } from '../../src/platform/rows/statement';
import { expectSuccess } from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { Fixtures, type Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

const change = (stock: number) => `UPDATE products SET stock = ${stock} WHERE id = $1`;

describe('Rows that are written by a query runner', () => {
  const api = useTestApi();
  let admin: TestUser;
  let runner: QueryRunner;

  beforeAll(async () => {
    admin = await api.admin();
  });
  beforeEach(() => {
    runner = api.app.nest.get(DataSource).createQueryRunner();
  });
  afterEach(() => runner.release());

  const product = async () => {
    const row = expectSuccess(await api.as(admin).post('/products', aProduct()), 201, 'Created') as Row;
    return row.id;
  };
  const asRequest = <T>(work: () => Promise<T>, roles = ['USER', 'ADMIN']) =>
    new UnitOfWork(undefined, { id: 'request-1', user: { id: admin.id, roles } }).run(work);
  const eventsOf = (id: number) =>
    api.app.nest
      .get(DataSource)
      .getRepository(AuditEvent)
      .find({ where: { resource: 'products', resource_id: String(id), action: 'UPDATED' }, order: { id: 'ASC' } });

  it('keep a statement beside another one that fails, without a transaction', async () => {
    const id = await product();
    const fates = await asRequest(() =>
      Promise.allSettled([
        runner.query(change(-1), [id]),
        runner.query(change(7), [id]),
        runner.query('SELECT stock FROM products WHERE id = $1', [id]),
        runner.query(change(-2), [id]),
      ]),
    );
    expect(fates.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'rejected']);
    expect(await eventsOf(id)).toMatchObject([{ after: { stock: 7 }, user_id: admin.id }]);
  });

  it.each([
    'BEGIN',
    '/* by hand */ BEGIN',
    '-- by hand\nSTART TRANSACTION',
    '/* a /* nested */ comment */ BEGIN ISOLATION LEVEL SERIALIZABLE',
  ])('know the caller in a transaction that begins with %j', async (begin) => {
    const id = await product();
    await asRequest(async () => {
      await runner.query(begin);
      await runner.query(change(8), [id]);
      await runner.query('COMMIT');
    });
    expect(await eventsOf(id)).toMatchObject([{ after: { stock: 8 }, user_id: admin.id, request_id: 'request-1' }]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['no transaction', () => Promise.resolve()],
    ['a transaction', () => runner.startTransaction()],
    ['a transaction by SQL', () => runner.query('BEGIN')],
  ])('are refused in %s if the writer has lost a role, whether or not the table is audited', async (_name, begin) => {
    const { id } = await new Fixtures(api, admin).order();
    const write = async () => {
      await begin();
      await runWrite(runner.manager, 'UPDATE order_items SET quantity = 2 WHERE order_id = $1', [id]);
      if (runner.isTransactionActive) await runner.commitTransaction();
    };
    await expect(asRequest(write, ['USER', 'AUDITOR'])).rejects.toMatchObject({ code: 'WR401' });
    await runner.query('ROLLBACK');
    expect(
      await runWrite(runner.manager, 'UPDATE order_items SET quantity = quantity WHERE order_id = $1', [id]),
    ).toEqual([expect.objectContaining({ quantity: 1 })]);
  });

  it('know the caller of a flow that outlives its request, each time', async () => {
    const id = await product();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let late: Promise<unknown> | undefined;
    await asRequest(() => {
      late = answered.then(async () => {
        for (const stock of [8, 9]) await runner.query(change(stock), [id]);
      });
      return Promise.resolve();
    });
    answer();
    await late;
    expect((await eventsOf(id)).map(({ user_id }) => user_id)).toEqual([admin.id, admin.id]);
  });

  it('know the caller of a change that goes on to them: by a view, a foreign key, a trigger, or TRUNCATE', async () => {
    const id = await product();
    const database = api.app.nest.get(DataSource);
    await database.query('CREATE VIEW wares AS SELECT * FROM products');
    await database.query('CREATE VIEW cheap_wares AS SELECT * FROM wares WHERE price < 1000');
    await database.query('CREATE TABLE makers (id int PRIMARY KEY)');
    await database.query('INSERT INTO makers VALUES (1)');
    await database.query('ALTER TABLE products ADD maker_id int REFERENCES makers ON DELETE SET NULL');
    await database.query('CREATE TABLE countries (id int PRIMARY KEY, closed boolean)');
    await database.query('INSERT INTO countries VALUES (1)');
    await database.query('ALTER TABLE products ADD country_id int REFERENCES countries');
    await database.query('UPDATE products SET maker_id = 1, country_id = 1 WHERE id = $1', [id]);
    await database.query(`CREATE FUNCTION close_country() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN UPDATE products SET stock = 0 WHERE country_id = NEW.id; RETURN NULL; END $$`);
    await database.query(
      'CREATE TRIGGER close_country AFTER UPDATE ON countries FOR EACH ROW EXECUTE FUNCTION close_country()',
    );
    await findAuditedTables(database);
    const [{ last }] = await database.query<{ last: number }[]>('SELECT max(id) AS last FROM audit_events');
    await asRequest(async () => {
      await database.query('UPDATE cheap_wares SET stock = 3 WHERE id = $1', [id]);
      await database.query('DELETE FROM makers');
      await database.query('UPDATE countries SET closed = true');
      await database.query('TRUNCATE TABLE countries CASCADE');
    });
    const events = database.getRepository(AuditEvent);
    const found = await events.find({ where: { id: MoreThan(last), resource: 'products' }, order: { id: 'ASC' } });
    expect(found.map(({ action, user_id }) => [action, user_id])).toEqual(
      ['UPDATED', 'UPDATED', 'UPDATED', 'TRUNCATED'].map((action) => [action, admin.id]),
    );
  });
});
