import { DataSource } from 'typeorm';
import { type Answer, type Client, statementsOf, times } from '../../src/platform/testing';
import { describeForEach, lacks } from '../support/asked';
import { Fixtures } from '../support/fixtures';
import { COLLECTIONS } from '../support/resources';
import { useTestApi } from '../support/test-api';

interface Item {
  id: number;
}

const ROWS = 7;
const idsOf = ({ body }: Answer): number[] => body.data.map(({ id }: Item) => id);

/** The cursors of every collection; the finer points are in cursors.spec.ts. */
describe('every cursor', () => {
  const api = useTestApi();
  let admin: Client;
  const paths: Record<string, string> = {};
  const scopes: Record<string, string> = {};

  beforeAll(async () => {
    admin = api.as(await api.admin());
    const [own, others] = [new Fixtures(api, await api.user()), new Fixtures(api, await api.user())];
    const lines = times(ROWS, (index) => {
      // Each value stands in several rows, so that only the id can tell those apart.
      const dates = { created_at: `2020-01-0${1 + (index % 3)}`, updated_at: `2020-02-0${1 + (index % 2)}` };
      return { text: `Same ${index % 2}`, index, even: index % 2 === 0, dates };
    });
    for (const { name, fill } of COLLECTIONS) {
      const place = await fill(own, others, lines);
      paths[name] = place?.path ?? name;
      if (place) scopes[name] = `WHERE ${place.where}`;
    }
  });

  it('is asked of collections that have rows', async () => {
    for (const { name } of COLLECTIONS) {
      const { status } = await list(paths[name]);
      if (status !== 200)
        lacks([`${name} answers ${status} in version 2: mend its route, or its \`fill\` in test/support/resources/`]);
    }
  });

  const list = (path: string, query = '', client = admin) => client.get(`//api/v2${path}${query}`);
  const query = (text: string) => api.app.nest.get(DataSource).query<Item[]>(text);
  const sorted = async (table: string, scope: string, sort: string, order: string) =>
    (await query(`SELECT id FROM ${table} ${scope} ORDER BY ${sort} ${order}, id ${order}`)).map(({ id }) => id);

  /** Follows one direction to its end. */
  async function follow(path: string, query: string, direction: 'next' | 'previous', start?: string) {
    const pages: Answer[] = [];
    for (let cursor = start; pages.length < 50;) {
      const page = await list(path, `${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      expect(page.status).toBe(200);
      pages.push(page);
      cursor = page.body.pagination[direction];
      if (cursor === null) break;
    }
    return pages;
  }

  describeForEach(COLLECTIONS)('of $name', ({ name, table, sortable }) => {
    it.each(sortable)('leads through all of it, sorted by %s, there and back', async (sort) => {
      for (const order of ['asc', 'desc']) {
        const ids = await sorted(table, scopes[name] ?? '', sort, order);
        const there = await follow(paths[name], `?sort=${sort}&order=${order}&size=3`, 'next');
        expect(there.flatMap(idsOf)).toEqual(ids);
        expect(there.slice(0, -1).map((page) => idsOf(page).length)).toEqual(there.slice(1).map(() => 3));
        expect(there[0].body.pagination.previous).toBeNull();
        if (there.length === 1) continue;
        const last = there.at(-1)!.body.pagination.previous;
        const back = await follow(paths[name], `?sort=${sort}&order=${order}&size=3`, 'previous', last);
        expect(back.reverse().flatMap(idsOf)).toEqual(ids.slice(0, ids.length - idsOf(there.at(-1)!).length));
      }
    });

    it.each(sortable)('leads through all of it, sorted by %s, where that is not shown', async (sort) => {
      const ids = await sorted(table, scopes[name] ?? '', sort, 'desc');
      const shown = sort === 'id' ? 'created_at' : 'id';
      const there = await follow(paths[name], `?sort=${sort}&order=desc&size=3&fields=${shown}`, 'next');
      const items = there.flatMap(({ body }) => body.data as object[]);
      expect(items.map((item) => Object.keys(item))).toEqual(ids.map(() => [shown]));
      if (sort !== 'id') expect(there.flatMap(idsOf)).toEqual(ids);
      const back = await follow(
        paths[name],
        `?sort=${sort}&order=desc&size=3&fields=${shown}`,
        'previous',
        there.at(-1)!.body.pagination.previous,
      );
      expect(back.flatMap(({ body }) => body.data as object[])).toHaveLength(
        ids.length - there.at(-1)!.body.data.length,
      );
    });

    it('needs one statement for a page, and counts nothing', async () => {
      const statements = await statementsOf(() => list(paths[name], '?size=2&fields=id'));

      expect(statements.filter((text) => text.includes(`FROM "${table}"`) && text.includes('LIMIT'))).toHaveLength(1);
      expect(statements.join()).not.toMatch(/count\(|row_counts/);
    });
  });
});
