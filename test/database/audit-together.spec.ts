import { DataSource } from 'typeorm';
import { renewAudits } from '../../src/platform/rows/audit-rows';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

const CONTEXT = { user_id: 7, request_id: 'request-7', address: '192.0.2.7' };
const TOLD = `SELECT user_id, request_id, address, action, resource, resource_id, version_before, version_after, before, after, concealed,
                     readers_before, readers_after FROM audit_events WHERE id > $1 ORDER BY id`;

/** The triggers of auditRows() tell an update of several requests by another function than one of a single request. */
describe('The audit of an update of several requests', () => {
  const api = useTestApi();
  let ids: Record<string, number>;

  beforeAll(async () => {
    const own = new Fixtures(api, await api.user());
    ids = { users: own.owner.id, products: (await own.product()).id, posts: (await own.post()).id };
    ids.orders = (await own.order()).id;
  });

  /** The events of a change, which is then undone. */
  async function eventsOf(table: string, change: string, setting: string, contexts: string): Promise<unknown[]> {
    const runner = api.app.nest.get(DataSource).createQueryRunner();
    await runner.startTransaction();
    try {
      const [{ last }] = (await runner.query('SELECT max(id) AS last FROM audit_events')) as { last: number }[];
      await runner.query(`SELECT set_config('audit.context', '', true), set_config($1, $2, true)`, [setting, contexts]);
      await runner.query(`UPDATE ${table} SET ${change} WHERE id = $1`, [ids[table]]);
      return (await runner.query(TOLD, [last])) as unknown[];
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  }

  it.each([
    ['products', 'stock = stock + 1'],
    ['products', "description = NULL, price = 1.10, name = 'Another'"],
    ['products', "description = 'Another', stock = stock"],
    ['products', "deleted_at = '2030-01-01'"],
    ['products', 'stock = stock'],
    ['users', "password_hash = 'another'"],
    ['users', "password_hash = 'another', name = 'Another', roles = '{USER,ADMIN}'"],
    ['posts', "status = 'DRAFT'"],
    ['posts', "title = 'Another', content = 'Another'"],
    ['orders', "status = 'CANCELLED'"],
  ])('leaves the same event in %s: %s', async (table, change) => {
    const alone = await eventsOf(table, change, 'audit.context', JSON.stringify(CONTEXT));
    const together = JSON.stringify({ [ids[table]]: CONTEXT });

    expect(alone).toHaveLength(change === 'stock = stock' ? 0 : 1);
    expect(await eventsOf(table, change, 'audit.contexts', together)).toEqual(alone);
  });

  it('is made anew at the next start, if another release has made it', async () => {
    const runner = api.app.nest.get(DataSource).createQueryRunner();
    const body = async () =>
      ((await runner.query("SELECT prosrc FROM pg_proc WHERE proname = 'products_audit_together'")) as unknown[])[0];
    const own = await body();
    await runner.query(
      'CREATE OR REPLACE FUNCTION products_audit_together() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
    );
    await renewAudits(runner);
    expect(await body()).toEqual(own);
    await runner.release();
  });
});
