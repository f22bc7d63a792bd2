import { DataSource } from 'typeorm';
import { AuditEvent, insertRow, UnitOfWork, updateRow } from '../../src/platform';
import { renewAudits } from '../../src/platform/rows/audit-rows';
import { Precondition } from '../../src/platform/transactions/precondition';
import { atOnce, RowLock, statementsOf, times } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { Fixtures, type Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

/** What one statement takes. */
const ROWS = 8;

describe('Rows that several requests write at once', () => {
  const api = useTestApi();
  let database: DataSource;
  let admins: TestUser[];
  let own: Fixtures;

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    admins = await Promise.all(times(3, () => api.admin()));
    own = new Fixtures(api, admins[0]);
  });

  /** Runs the work as a request of one of the administrators. */
  const asked = <T>(index: number, work: () => Promise<T>, roles = ['USER', 'ADMIN']) =>
    new UnitOfWork(undefined, {
      id: `request-${index}`,
      ip: `192.0.2.${index}`,
      user: { id: writerOf(index).id, roles },
    }).run(work);
  const writerOf = (index: number) => admins[index % admins.length];
  const insert = (index: number, attributes: object = {}) =>
    insertRow(database.manager, Product, { ...aProduct(), name: `Bench ${index}`, ...attributes });
  const update = (id: number, columns: Partial<Product>, expected?: Precondition) =>
    updateRow(database.manager, Product, id, columns, expected);
  const products = (count = ROWS): Promise<Row[]> => Promise.all(times(count, () => own.product({ stock: 1 })));
  const lastEvent = (id: number) =>
    database.getRepository(AuditEvent).findOneOrFail({
      where: { resource: 'products', resource_id: String(id) },
      order: { id: 'DESC' },
    });
  /** The outcome of each write, or the code or message of its error. */
  const outcomesOf = async (writes: Promise<Product>[]) =>
    (await Promise.allSettled(writes)).map((write) => {
      if (write.status === 'fulfilled') return write.value.stock;
      const reason = write.reason as Error & { driverError?: { code?: string } };
      return reason.driverError?.code ?? reason.name;
    });
  const writesIn = (sent: string[]) => sent.filter((text) => /(INSERT INTO|UPDATE) "products"/.test(text));
  /** A failed statement is followed by a second of rows that are written alone. */
  const afterPause = () => jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 2_000);

  afterEach(() => jest.restoreAllMocks());

  it('are inserted by one statement, each with its own values and its own event', async () => {
    let rows: Product[] = [];
    const sent = await statementsOf(async () => {
      rows = await Promise.all(times(ROWS, (index) => asked(index, () => insert(index))));
    });

    expect(writesIn(sent)).toHaveLength(1);
    expect(rows.map(({ name }) => name)).toEqual(times(ROWS, (index) => `Bench ${index}`));
    expect(rows[0]).toBeInstanceOf(Product);
    for (const [index, { id }] of rows.entries()) {
      const who = { user_id: writerOf(index).id, request_id: `request-${index}`, address: `192.0.2.${index}` };
      expect(await lastEvent(id)).toMatchObject({ action: 'CREATED', ...who, after: { name: `Bench ${index}` } });
    }
  });

  it('are updated by one statement, each with its own values and its own event', async () => {
    const rows = await products();
    let changed: Product[] = [];
    const sent = await statementsOf(async () => {
      changed = await Promise.all(rows.map(({ id }, index) => asked(index, () => update(id, { stock: index + 10 }))));
    });

    expect(writesIn(sent)).toHaveLength(1);
    expect(changed.map(({ id, stock, version }) => [id, stock, version])).toEqual(
      rows.map(({ id }, index) => [id, index + 10, 2]),
    );
    for (const [index, { id }] of rows.entries()) {
      const who = { user_id: writerOf(index).id, request_id: `request-${index}`, address: `192.0.2.${index}` };
      const values = { before: { stock: 1 }, after: { stock: index + 10 } };
      expect(await lastEvent(id)).toMatchObject({ action: 'UPDATED', ...who, ...values });
    }
  });

  it('have the same values as if they were written alone', async () => {
    const texts = ['NULL', '{a,b}', '"', '\\', '\\"', "it's", 'a\nb\tc', '   ', '💥', '\u0001', ',', null];
    const prices = [0, 0.1, 9999999999.99, 1e-2, 3, 1.1, 2.35, 7, 8, 9, 10, 11];
    const rows = await Promise.all(
      texts.map((description, index) => asked(index, () => insert(index, { description, price: prices[index] }))),
    );
    expect(rows.map(({ description, price }) => [description, price])).toEqual(
      texts.map((text, index) => [text, prices[index]]),
    );
    const alone = await asked(0, () => insert(0));
    expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => Object.keys(alone)));
  });

  it('are each compared with the version that their request expects', async () => {
    const rows = await products();
    const expected = (index: number) => (index % 2 ? new Precondition([2]) : new Precondition([1]));
    const outcomes = await outcomesOf(
      rows.map(({ id }, index) => asked(index, () => update(id, { stock: 7 }, expected(index)))),
    );
    expect(outcomes).toEqual(times(ROWS, (index) => (index % 2 ? 'Error' : 7)));
  });

  it('are missing for their own request alone', async () => {
    const rows = await products();
    await update(rows[3].id, { deleted_at: new Date() });
    const outcomes = await outcomesOf(rows.map(({ id }, index) => asked(index, () => update(id, { stock: 7 }))));
    expect(outcomes).toEqual(times(ROWS, (index) => (index === 3 ? 'EntityNotFoundError' : 7)));
  });

  it('are written although one of them is refused, which only its own request hears of', async () => {
    const values = (index: number) => ({ stock: index === 5 ? -1 : 7 });
    expect(await outcomesOf(times(ROWS, (index) => asked(index, () => insert(index, values(index)))))).toEqual(
      times(ROWS, (index) => (index === 5 ? '23514' : 7)),
    );
    afterPause();
    const rows = await products();
    const outcomes = await outcomesOf(rows.map(({ id }, index) => asked(index, () => update(id, values(index)))));
    expect(outcomes).toEqual(times(ROWS, (index) => (index === 5 ? '23514' : 7)));
  });

  it('are written although one of the writers has lost its rights', async () => {
    afterPause();
    const roles = (index: number) => (index === 5 ? ['USER', 'AUDITOR'] : ['USER', 'ADMIN']);
    const outcomes = await outcomesOf(
      times(ROWS, (index) => asked(index, () => insert(index, { stock: 7 }), roles(index))),
    );
    expect(outcomes).toEqual(times(ROWS, (index) => (index === 5 ? 'WR401' : 7)));
  });

  it('are written although another transaction has locked one of them, which only its own request waits for', async () => {
    afterPause();
    const rows = await products();
    const lock = await RowLock.of(api.app.databaseUrl, 'products', rows[5].id);
    try {
      const writes = rows.map(({ id }, index) => asked(index, () => update(id, { stock: 7 })));
      await atOnce(
        writes.filter((_, index) => index !== 5),
        (write) => write,
      );
      expect(await lock.waiting()).toBe(1);
      await lock.release();
      expect((await writes[5]).stock).toBe(7);
    } finally {
      await lock.release();
    }
  });

  it('take turns if they are one row', async () => {
    afterPause();
    const [{ id }] = await products(1);
    const changed = await Promise.all(times(ROWS, (index) => asked(index, () => update(id, { stock: index + 10 }))));
    expect(changed.map(({ version }) => version).sort((a, b) => a - b)).toEqual(times(ROWS, (index) => index + 2));
  });

  it('are written by none of the requests that were cancelled before', async () => {
    afterPause();
    const rows = await products();
    const outcomes = await outcomesOf(
      rows.map(({ id }, index) =>
        asked(index, () => {
          const written = update(id, { stock: 7 });
          if (index === 5) UnitOfWork.current()!.cancel(new RangeError('Too late'));
          return written;
        }),
      ),
    );
    expect(outcomes).toEqual(times(ROWS, (index) => (index === 5 ? 'RangeError' : 7)));
    expect(await database.getRepository(Product).findOneByOrFail({ id: rows[5].id })).toMatchObject({ stock: 1 });
  });

  it.each([
    ['in the form of the release before', (id: number) => `\n${id}={"user_id":1}`, 'WR409'],
    ['of other rows', (id: number) => `{"1${id}":{"user_id":1}}`, '23502'],
    ['of none', () => '{}', '23502'],
    ['that are no JSON', () => '{', '22P02'],
  ])('are refused by the audit if an update has contexts %s', async (_kind, contexts, code) => {
    const { id } = await own.product();
    const before = await lastEvent(id);
    const writing = database.transaction(async (manager) => {
      await manager.query("SELECT set_config('audit.contexts', $1, true)", [contexts(id)]);
      await manager.query('UPDATE products SET stock = 7 WHERE id = $1', [id]);
    });
    await expect(writing).rejects.toMatchObject({ driverError: { code } });
    expect(await lastEvent(id)).toEqual(before);
  });

  describe('with triggers of a team', () => {
    const query = (text: string) => database.query<unknown>(text);
    const trigger = (moment: string, body: string) =>
      query(`
        CREATE OR REPLACE FUNCTION of_the_team() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
        CREATE OR REPLACE TRIGGER of_the_team ${moment} ON products FOR EACH ROW EXECUTE FUNCTION of_the_team()`);

    beforeEach(() => afterPause());
    afterEach(() => query('DROP TRIGGER of_the_team ON products'));

    it('are the rows of their own requests, if one of them is left out', async () => {
      await trigger('BEFORE INSERT', `RETURN CASE WHEN NEW.stock = 13 THEN NULL ELSE NEW END;`);
      const writes = times(ROWS, (index) => asked(index, () => insert(index, { stock: index === 5 ? 13 : index })));
      expect(await outcomesOf(writes)).toEqual(times(ROWS, (index) => (index === 5 ? 'TypeError' : index)));
    });

    it('tell who has written them, if an earlier release has put its audit back', async () => {
      await trigger('BEFORE UPDATE', 'RETURN NEW;');
      await query(`
        CREATE OR REPLACE FUNCTION products_audit() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE context jsonb := nullif(current_setting('audit.context', true), '')::jsonb;
        BEGIN
          INSERT INTO audit_events (user_id, action, resource, resource_id)
            SELECT (context->>'user_id')::bigint, 'CREATED', 'products', id::text FROM added;
          RETURN NULL;
        END $$`);
      const rows = await Promise.all(times(ROWS, (index) => asked(index, () => insert(index))));
      for (const [index, { id }] of rows.entries()) {
        expect(await lastEvent(id)).toMatchObject({ user_id: writerOf(index).id });
      }
      const runner = database.createQueryRunner();
      await renewAudits(runner);
      await runner.release();
    });

    it('tell who has changed other rows by them', async () => {
      const [rows, posts] = [await products(), await Promise.all(times(ROWS, () => own.post()))];
      await trigger('AFTER UPDATE', `UPDATE posts SET title = 'Changed' WHERE id = NEW.stock; RETURN NULL;`);
      await Promise.all(rows.map(({ id }, index) => asked(index, () => update(id, { stock: posts[index].id }))));

      for (const [index, { id }] of posts.entries()) {
        const where = { resource: 'posts', resource_id: String(id), action: 'UPDATED' };
        const events = await database.getRepository(AuditEvent).find({ where });
        expect(events).toMatchObject([{ user_id: writerOf(index).id, request_id: `request-${index}` }]);
      }
    });
  });
});
