import { DataSource } from 'typeorm';
import { type Answer, type Client, expectError, statementsOf } from '../../src/platform/testing';
import { filtersOf } from '../support/documented-filters';
import { Fixtures, type Row } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { linesOf } from '../support/resource';
import { COLLECTIONS_AND_SPECIMENS as COLLECTIONS, useSpecimens } from '../support/specimens';

type Item = Record<string, string | number | boolean | null> & { id: number };

const LINES = ['pear', 'apple', 'plum', 'quince', 'cherry', 'lime'];

/** What is particular to some lists; the rest is in every-filter.spec.ts. */
describe('filters', () => {
  const api = useSpecimens();
  let admin: Client;
  let document: Node;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    document = (await api.get('//docs/json')).body;
    const [own, others] = [new Fixtures(api, await api.user()), new Fixtures(api, await api.user())];
    const lines = linesOf(LINES);
    for (const { fill } of COLLECTIONS) await fill(own, others, lines);
  });

  const query = (text: string) => api.app.nest.get(DataSource).query<Row[]>(text);
  const idsOf = ({ body }: Answer) => (body.data as Item[]).map(({ id }) => id);

  it('finds no rows that the caller may not see', async () => {
    const user = await api.user();
    const { id } = await new Fixtures(api, user).order({ total_amount: 7 });

    expect(idsOf(await api.as(user).get('/orders?total_amount[gte]=0&created_at[gt]=2000-01-01T00:00:00Z'))).toEqual([
      id,
    ]);
    expect(idsOf(await admin.get('/orders?total_amount[gte]=0&size=100')).length).toBeGreaterThan(1);
  });

  describe('of specimens', () => {
    const list = (parameters: string, version = 'v1') => admin.get(`//api/${version}/specimens?${parameters}`);

    it('are all that their query declares', () => {
      const { attributes } = COLLECTIONS.find(({ name }) => name === '/specimens')!;
      const found = Object.fromEntries(filtersOf(document, '/specimens', attributes));

      const bounds = ['gt', 'gte', 'lt', 'lte'];
      expect(found).toEqual({
        ...{ finder_id: ['', 'null'], fragile: [''], serial: ['', 'null'], level: bounds, population: bounds },
        ...{ weight: [...bounds, 'null'], price: bounds, found_on: [...bounds, 'null'], seen_at: [...bounds, 'null'] },
        ...{ contact: ['null'], created_at: bounds },
      });
    });

    it('are combined with each other, with a search and with the status', async () => {
      const answer = await list(
        'fragile=false&level[gte]=0&status=WET&search=e&weight[null]=false&sort=name&order=desc',
      );

      const names = (answer.body.data as Item[]).map(({ name }) => name);
      expect(names).toEqual(['lime', 'apple']);
      expect(answer.body.pagination.total).toBe(2);
    });

    it('belong to their cursors', async () => {
      const first = await list('price[gte]=0&size=2', 'v2');
      const { next } = first.body.pagination;

      expect(first).toMatchObject({ status: 200 });
      expect(await list(`price[gte]=0&size=2&cursor=${next}`, 'v2')).toMatchObject({ status: 200 });
      for (const others of ['', 'price[gte]=1&', 'price[gt]=0&', 'price[gte]=0&level[lt]=9&']) {
        const answer = await list(`${others}size=2&cursor=${next}`, 'v2');
        expectError(answer, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
      }
    });

    it('lead by cursors past each of their rows once', async () => {
      const ids: number[] = [];
      let cursor = '';
      do {
        const { body } = await list(`weight[gt]=0&sort=weight&order=desc&size=1${cursor}`, 'v2');
        ids.push(...(body.data as Item[]).map(({ id }) => id));
        cursor = body.pagination.next ? `&cursor=${body.pagination.next}` : '';
      } while (cursor);

      const rows = await query('SELECT id FROM specimens WHERE weight > 0 ORDER BY weight DESC, id DESC');
      expect(ids).toEqual(rows.map(({ id }) => id));
      expect(ids.length).toBeGreaterThan(1);
    });

    it('take the short way, with values as parameters', async () => {
      const [rows] = (await statementsOf(() => list('fragile=true&level[gte]=-1&size=3'))).filter((text) =>
        text.includes('LIMIT'),
      );

      expect(rows).toContain('WHERE "fragile" = $3 AND "level" >= $4 ORDER BY "id" ASC');
    });
  });
});
