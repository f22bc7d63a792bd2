import { DataSource } from 'typeorm';
import { AuditTrail } from '../../src/platform/auth/audit-trail';
import { type Answer, atOnce, type Client, expectError, times } from '../../src/platform/testing';
import { describeForEach } from '../support/asked';
import { Fixtures, type Row } from '../support/fixtures';
import { linesOf } from '../support/resource';
import { COLLECTIONS_AND_SPECIMENS as COLLECTIONS, useSpecimens } from '../support/specimens';

type Item = Record<string, unknown> & { id: number };

const LINES = ['pear', 'apple', 'plum', 'quince', 'cherry', 'lime'];
const VERSIONS = ['v1', 'v2'];
/** Ids that no row has: a free one, and those that no number of JavaScript is. */
const UNKNOWN = [987_654_321, '9007199254740993', '9223372036854775807'];
const TOO_MANY = times(101, (index) => index + 1).join();
const WRONG = ['', ' ', 'x', '0', '-1', '01', '1.0', '1e3', '1,', ',1', '1,,2', '1, 2', '1;2', '9223372036854775808'];

/** Rows chosen by their ids, and totals of lists with cursors, asked of every collection. */
describe('every selection', () => {
  const api = useSpecimens();
  let admin: Client;
  let own: Fixtures;
  const paths: Record<string, string> = {};

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
    const others = new Fixtures(api, await api.user());
    for (const { name, fill } of COLLECTIONS) paths[name] = (await fill(own, others, linesOf(LINES)))?.path ?? name;
  });

  // The audit writes sign-ins and refusals half a second late. Its rows are counted here.
  beforeEach(() => api.app.nest.get(AuditTrail).beforeApplicationShutdown());

  const query = (text: string) => api.app.nest.get(DataSource).query<Row[]>(text);
  const idsOf = ({ body }: Answer) => (body.data as Item[]).map(({ id }) => id);

  describeForEach(COLLECTIONS)('of $name', ({ name, table, sortable, statuses, textsOf }) => {
    const list = (version: string, parameters: string, client = admin) =>
      client.get(`//api/${version}${paths[name]}?${parameters}`);
    const all = async () => idsOf(await list('v1', 'size=100'));

    it.each(VERSIONS)('has the rows with these ids, in the order of the list: %s', async (version) => {
      const ids = await all();
      const [first, third, fifth] = [ids[0], ids[2], ids[4]];
      const asked = `ids=${[fifth, first, third, first, ...UNKNOWN].join()}`;

      expect(idsOf(await list(version, asked))).toEqual([first, third, fifth]);
      const { body } = await list(version, `${asked}&order=desc&fields=id&size=2`);
      expect(body.data).toEqual([{ id: fifth }, { id: third }]);
      expect(body.pagination.total).toBe(version === 'v1' ? 3 : undefined);
      expect(idsOf(await list(version, `ids=${third}`))).toEqual([third]);
      expect(idsOf(await list(version, `ids=${UNKNOWN.join()}`))).toEqual([]);
      const sort = `sort=${sortable.at(-1)}`;
      const sorted = idsOf(await list(version, `${asked}&${sort}`));
      expect(sorted).toEqual(idsOf(await list(version, `${sort}&size=100`)).filter((id) => sorted.includes(id)));
    });

    it.each(VERSIONS)('takes as many as a hundred, with commas or each in a parameter: %s', async (version) => {
      const ids = await all();
      const asked = times(100, (index) => ids[index] ?? 900_000_000 + index);
      const whole = idsOf(await list(version, 'size=100'));

      expect(idsOf(await list(version, `size=100&order=asc&ids=${asked.join()}`))).toEqual(whole);
      const repeated = asked.map((id) => `ids=${id}`).join('&');
      expect(idsOf(await list(version, `size=100&order=asc&${repeated}`))).toEqual(whole);
    });

    it('shows nobody a row that the list would not show', async () => {
      const rows = await query(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 50`);
      const asked = rows.map(({ id }) => id);
      for (const client of [api, api.as(own.owner), api.as(await api.user()), admin]) {
        const [whole, chosen] = [
          await list('v1', 'size=100&order=desc', client),
          await list('v1', `size=100&order=desc&ids=${asked.join()}`, client),
        ];
        expect(chosen.status).toBe(whole.status);
        if (whole.status !== 200) continue;
        expect(idsOf(chosen)).toEqual(idsOf(whole).filter((id) => asked.includes(id)));
        expect(chosen.body.pagination.total).toBe(idsOf(chosen).length);
      }
    });

    it('is combined with the other parameters of the list', async () => {
      const items = (await list('v1', 'size=100')).body.data as Item[];
      const some = items.filter((_, index) => index % 2 === 0);
      const asked = `ids=${some.map(({ id }) => id).join()}&size=100`;

      for (const status of statuses) {
        const expected = some.filter((item) => item.status === status).map(({ id }) => id);
        expect(idsOf(await list('v1', `${asked}&status=${status}`))).toEqual(expected);
      }
      if (!textsOf) return;
      const found = idsOf(await list('v1', 'size=100&search=apple'));
      const expected = some.map(({ id }) => id).filter((id) => found.includes(id));
      for (const version of VERSIONS) expect(idsOf(await list(version, `${asked}&search=apple`))).toEqual(expected);
    });

    it('refuses what is no list of ids, and more than a hundred', async () => {
      for (const version of VERSIONS) {
        await atOnce([...WRONG, TOO_MANY], async (value) =>
          expectError(await list(version, `ids=${encodeURIComponent(value)}`), 'VALIDATION_ERROR', {
            fields: { ids: 'ids' },
          }),
        );
        expectError(await list(version, 'ids=1&ids='), 'VALIDATION_ERROR', { fields: { ids: 'ids' } });
      }
    });

    it('belongs to its cursors', async () => {
      const [first, second, third] = await all();
      const asked = `ids=${[first, second, third].join()}`;
      const { next } = (await list('v2', `${asked}&size=2`)).body.pagination;

      expect(idsOf(await list('v2', `${asked}&size=2&cursor=${next}`))).toEqual([third]);
      for (const other of ['', `ids=${first},${second}&`, `ids=${first}&`]) {
        const answer = await list('v2', `${other}size=2&cursor=${next}`);
        expectError(answer, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
      }
    });

    it('has a total beside its cursors where it is asked for', async () => {
      const status = statuses.length > 0 ? `status=${statuses[0]}&` : '';
      const searches = textsOf ? ['', 'search=apple&'] : [''];
      for (const parameters of ['', status, ...searches, `ids=${(await all()).slice(0, 3).join()}&`]) {
        const { total } = (await list('v1', parameters)).body.pagination;
        const { pagination } = (await list('v2', `${parameters}size=1&total=true`)).body;

        expect([parameters, pagination.total]).toEqual([parameters, total]);
        expect(Object.keys(pagination as object)).toEqual(['size', 'next', 'previous', 'total']);
        if (pagination.next === null) continue;
        const second = await list('v2', `${parameters}size=1&total=true&cursor=${pagination.next}`);
        expect(second.body.pagination.total).toBe(total);
        expect(second.headers.get('link')).toContain(`total=true&cursor=`);
        // Whether it is counted is nothing that a cursor belongs to.
        const third = await list('v2', `${parameters}size=1&total=false&cursor=${pagination.next}`);
        expect(idsOf(third)).toEqual(idsOf(second));
        expect(third.body.pagination).not.toHaveProperty('total');
      }
      expectError(await list('v1', 'total=true'), 'VALIDATION_ERROR', { fields: { total: 'unknown' } });
      for (const wrong of ['total=', 'total=1', 'total=TRUE']) {
        expectError(await list('v2', wrong), 'VALIDATION_ERROR', { fields: { total: 'boolean' } });
      }
    });
  });
});
