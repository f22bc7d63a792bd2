import { DataSource } from 'typeorm';
import type { Client } from '../../src/platform/testing';
import { ALL_ARE_ASKED, describeForEach, lacks } from '../support/asked';
import { changesSince, markNow } from '../support/feed';
import { Fixtures } from '../support/fixtures';
import { requestOf } from '../support/requests';
import { ASKED, COLLECTIONS } from '../support/resources';
import { type TestUser, useTestApi } from '../support/test-api';

/** The tables whose changes `GET /changes` doesn't tell, and why. */
const UNTOLD: Record<string, string> = {
  audit_events: 'an event is no resource that changes: GET /audit-events lists them in their order',
  webhooks: 'a webhook is a setting of the operator, whose changes GET /audit-events has',
  webhook_deliveries: 'each delivery would be a change, which would have to be delivered in turn',
  uploads: 'an upload has a key instead of an id, and grows with each piece of it',
};
const typeOf = (table: string) => table.replaceAll('_', '-');
const TABLES = [...new Set(COLLECTIONS.map(({ table }) => table))];

/** The resources whose rows have a route of their own, which says who may read a row. */
const READABLE = ASKED.flatMap(({ noun, requests, collections: [first] }) => {
  const table = COLLECTIONS.find(({ name }) => name === first?.name)?.table;
  if (!table || table in UNTOLD || !(`GET /api/v1/${noun}/:id` in requests)) return [];
  return [{ noun, table, statuses: first.statuses, removable: `DELETE /api/v1/${noun}/:id` in requests }];
});

/** What `GET /changes` tells of each resource; the finer points are in test/resources/changes.spec.ts. */
describe('every change that is told', () => {
  const api = useTestApi();
  let admin: TestUser;
  let stranger: TestUser;

  beforeAll(async () => {
    [admin, stranger] = [await api.admin(), await api.user()];
  });

  it('is told of each table, except those that have a reason', async () => {
    if (ALL_ARE_ASKED) expect(READABLE.map(({ noun }) => noun)).toEqual(expect.arrayContaining(['users', 'posts']));
    const statuses = new Map<string, number>();
    for (const table of TABLES) {
      statuses.set(table, (await api.as(admin).get(`/changes?size=1&types=${typeOf(table)}`)).status);
    }

    lacks([
      ...TABLES.filter((table) => !(table in UNTOLD) && statuses.get(table) !== 200).map(
        (table) => `GET /changes doesn't tell changes of ${table}: write \`readers\` in auditRows() of its migration`,
      ),
      ...TABLES.filter((table) => table in UNTOLD && statuses.get(table) === 200).map(
        (table) => `GET /changes tells changes of ${table}: remove its reason from UNTOLD`,
      ),
    ]);
  });

  /** By the decision of its migration, whoever else may read a row. */
  async function isForAdministrators(table: string): Promise<boolean> {
    const text = "SELECT prosrc LIKE '%(-1)::bigint%' AS alone FROM pg_proc WHERE proname = $1";
    const [{ alone }] = await api.app.nest.get(DataSource).query<{ alone: boolean }[]>(text, [`${table}_audit`]);
    return alone;
  }

  describeForEach(READABLE)('of $noun', ({ noun, table, statuses, removable }) => {
    it('is told to those who can read the row before it or after it, with what they can read', async () => {
      // Before the owner is made, as the owner may be the row.
      const start = await markNow(api.as(admin));
      const own = new Fixtures(api, await api.user());
      const { ids } = await requestOf(`GET /api/v1/${noun}/:id`, own);
      const [id] = ids as [number];
      const others = { owner: api.as(own.owner), stranger: api.as(stranger) };
      const callers = { administrator: api.as(admin), ...((await isForAdministrators(table)) ? {} : others) };
      const item = `/${noun}/${id}`;
      const problems: string[] = [];
      let before = new Map<string, boolean>();
      let mark = start;

      const compare = async (step: string) => {
        const after = new Map<string, boolean>();
        for (const [name, client] of Object.entries(callers)) {
          const answer = await client.get(item);
          // An owner that is suspended is answered nothing meanwhile.
          const isAnswered = (await client.get('/changes?cursor=now')).status === 200;
          after.set(name, isAnswered ? answer.status === 200 : before.get(name)!);
          if (!isAnswered) continue;
          const told = await toldTo(client);
          const expected = expectedChange(before.get(name) ?? false, answer.status === 200);
          const resource = answer.status === 200 ? (answer.body.data as object) : null;
          const given = told.map((one) => [one.change, one.resource]);
          if (JSON.stringify(given) !== JSON.stringify(expected ? [[expected, resource]] : [])) {
            const is = JSON.stringify(resource ?? answer.status);
            problems.push(`${step}: GET ${item} answers ${is} to the ${name}, who is told ${JSON.stringify(given)}`);
          }
        }
        [before, mark] = [after, await markNow(api.as(admin))];
      };
      const toldTo = async (client: Client) => {
        // Without `types`, which refuses a type that this caller doesn't know.
        const told = await changesSince(api, client, mark, 'include=resource');
        return told.filter((one) => one.type === typeOf(table) && one.id === id);
      };

      await compare('A new row');
      for (const status of [...statuses, ...statuses.slice(0, 1)]) {
        const text = `UPDATE ${table} SET status = $2 WHERE id = $1 AND status <> $2 RETURNING id`;
        const [, changed] = await api.app.nest.get(DataSource).query<[unknown, number]>(text, [id, status]);
        if (changed > 0) await compare(`status = ${status}`);
      }
      if (removable) {
        await api.as(admin).delete(item);
        await compare('A deletion');
      }

      lacks(problems);
    });
  });
});

function expectedChange(before: boolean, after: boolean): string | undefined {
  if (before) return after ? 'UPDATED' : 'DELETED';
  return after ? 'CREATED' : undefined;
}
