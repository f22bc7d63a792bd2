import { OptimisticLockVersionMismatchError } from 'typeorm';
import { Product } from '../../src/resources/products/product.entity';
import { type Handler, insert, useHandlers } from '../support/modules/handlers';

describe('A statement that PostgreSQL or TypeORM refuses', () => {
  const { marks, send, database, sql } = useHandlers();

  beforeAll(async () => {
    await sql('CREATE TABLE parents (id int PRIMARY KEY)');
    await sql('CREATE TABLE children (parent_id int REFERENCES parents)');
    await sql('CREATE TABLE late_children (parent_id int REFERENCES parents DEFERRABLE INITIALLY DEFERRED)');
    await sql('INSERT INTO parents VALUES (1), (2)');
    await sql('INSERT INTO children VALUES (1)');
    await sql('INSERT INTO late_children VALUES (2)');
  });

  const refused = (text: string): [string, Handler] => [text, (manager) => manager.query(text)];

  it.each<[string, Handler]>([
    refused('DELETE FROM parents WHERE id = 1'),
    refused('/* cleanup */ DELETE FROM parents WHERE id = 1'),
    refused('WITH gone AS (DELETE FROM parents WHERE id = 1 RETURNING *) SELECT count(*) FROM gone'),
    refused('DELETE FROM parents WHERE id = 2'),
    ['a COMMIT', (manager) => manager.transaction((own) => own.query('DELETE FROM parents WHERE id = 2'))],
  ])('because a row is still referred to, is 409 with and without a key: %s', async (_text, handler) => {
    for (const keyed of [false, true]) {
      const { status, body } = await send(handler, keyed);
      expect([status, body.error.details]).toEqual([409, 'Something else still refers to it']);
    }
  });

  it('because a row refers to none, is 400', async () => {
    expect((await send((manager) => manager.query('INSERT INTO children VALUES (7)'))).status).toBe(400);
  });

  it('because it does not wait for a lock, is 503', async () => {
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        await insert(outer, 'lost');
        await outer.query('LOCK TABLE marks');
        await database().transaction((other) => other.query('LOCK TABLE marks NOWAIT'));
      });
    const { status, body } = await send(handler);
    expect([status, body.error.code, await marks()]).toEqual([503, 'SERVICE_UNAVAILABLE', []]);
  });

  it("because of TypeORM's optimistic lock, is 412", async () => {
    const handler: Handler = () => Promise.reject(new OptimisticLockVersionMismatchError('Mark', 1, 2));
    const { status, body } = await send(handler);
    expect([status, body.error.code]).toEqual([412, 'PRECONDITION_FAILED']);
  });

  it("because of TypeORM's optimistic lock, is 412 for another version of one of the service's own entities", async () => {
    const products = () => database().getRepository(Product);
    const { id } = await products().save({ name: 'Locked', price: 1 });
    const { updated_at } = await products().findOneByOrFail({ id });
    const ways = (version: number | Date): Handler[] => [
      () => products().findOne({ where: { id }, lock: { mode: 'optimistic', version } }),
      () => products().findOneOrFail({ where: { id }, lock: { mode: 'optimistic', version } }),
      () => products().createQueryBuilder('own').setLock('optimistic', version).where({ id }).getOne(),
    ];
    const statusOf = async (handler: Handler) => (await send(handler)).status;

    for (const handler of [...ways(1), ...ways(updated_at)]) expect(await statusOf(handler)).toBe(201);
    for (const handler of [...ways(2), ...ways(new Date(0))]) expect(await statusOf(handler)).toBe(412);
    await products().update({ id }, { name: 'Changed' });
    for (const handler of ways(1)) expect(await statusOf(handler)).toBe(412);
    for (const handler of ways(2)) expect(await statusOf(handler)).toBe(201);
    expect((await products().findOneByOrFail({ id })).version).toBe(2);
    const none: Handler = () => products().findOne({ where: { id: 77 }, lock: { mode: 'optimistic', version: 1 } });
    expect(await statusOf(none)).toBe(201);
  });
});
