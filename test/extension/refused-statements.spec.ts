import { OptimisticLockVersionMismatchError } from 'typeorm';
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
});
