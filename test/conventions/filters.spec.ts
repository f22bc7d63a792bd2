import { DataSource } from 'typeorm';
import { type Answer, atOnce, type Client, expectError, statementsOf } from '../../src/platform/testing';
import { Fixtures, type Row } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { COLLECTIONS_AND_SPECIMENS as COLLECTIONS, useSpecimens } from '../support/specimens';

type Item = Record<string, string | number | boolean | null> & { id: number };

const LINES = ['pear', 'apple', 'plum', 'quince', 'cherry', 'lime'];
const OPERATORS: Record<string, string> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };
/** Texts that are no value of any kind, and attempts to leave the value. */
const WRONG = [
  '',
  ' ',
  'x',
  "1' OR '1'='1",
  '1;DROP TABLE specimens',
  '1e3',
  '0x1',
  ' 1',
  '1 ',
  'NaN',
  'null',
  'a\0',
  '٣',
];

/** How lists are filtered by what their documents say, asked of all of them. */
describe('every filter', () => {
  const api = useSpecimens();
  let admin: Client;
  let document: Node;
  const places: Record<string, { path: string; where?: string }> = {};

  beforeAll(async () => {
    admin = api.as(await api.admin());
    document = (await api.get('//docs/json')).body;
    const [own, others] = [new Fixtures(api, await api.user()), new Fixtures(api, await api.user())];
    const lines = LINES.map((text, index) => {
      const dates = { created_at: `2020-01-0${1 + (index % 4)}`, updated_at: `2020-02-0${1 + (index % 3)}` };
      return { text, index, even: index % 2 === 0, dates };
    });
    for (const { name, fill } of COLLECTIONS) places[name] = (await fill(own, others, lines)) ?? { path: name };
  });

  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);
  const idsOf = ({ body }: Answer) => (body.data as Item[]).map(({ id }) => id);
  /** The filters of a list by their attributes: the parts of each, or none where it is compared with one value. */
  const filtersOf = (name: string, attributes: string[]): Map<string, string[]> => {
    const path = Object.keys(document.paths as object).find(
      (one) => one.replace(/\{\w+\}/, '{id}') === `/api/v1${name}`,
    )!;
    const parameters = document.paths[path].get.parameters as Node[];
    const own = parameters.filter((one) => one.in === 'query' && attributes.includes(one.name.split('[')[0] as string));
    const found = new Map<string, string[]>();
    for (const { name: parameter, style, schema } of own) {
      const [attribute, part] = (parameter as string).split(/[[\]]/);
      if (style !== 'deepObject' && !part) found.set(attribute, ['']);
      else {
        const parts = style === 'deepObject' ? Object.keys(schema.properties as object) : [part];
        found.set(attribute, [...(found.get(attribute) ?? []), ...parts]);
      }
    }
    // The status is asked in every-collection.spec.ts. That an upload has a `size` too doesn't make the page's a filter.
    for (const parameter of ['status', 'size']) found.delete(parameter);
    return found;
  };

  describe.each(COLLECTIONS)('of $name', ({ name, table, attributes }) => {
    const list = (parameters: string) => admin.get(`${places[name].path}?size=100&${parameters}`);
    const sqlIds = async (condition: string, value?: unknown) => {
      const { where = 'true' } = places[name];
      const values = value === undefined ? [] : [value];
      const rows = await query(`SELECT id FROM ${table} WHERE ${where} AND ${condition} ORDER BY id`, values);
      return rows.map(({ id }) => id);
    };
    const all = async () => (await list('')).body.data as Item[];
    const expectIds = async (parameters: string, ids: number[]) => {
      const answer = await list(parameters);
      expect([parameters, idsOf(answer)]).toEqual([parameters, ids]);
      expect([parameters, answer.body.pagination.total]).toEqual([parameters, ids.length]);
    };
    const filters = () => [...filtersOf(name, attributes)];

    it('has an index for each attribute that it compares', async () => {
      const rows = await query(
        `SELECT attname AS name FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
           JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
          WHERE indrelid = $1::regclass AND amname = 'btree'`,
        [table],
      );
      const indexed = rows.map((row) => row.name as string);

      expect(filters().flatMap(([attribute]) => (indexed.includes(attribute) ? [] : [attribute]))).toEqual([]);
    });

    it('finds the rows with a value, and counts them', async () => {
      const items = await all();
      for (const [attribute] of filters().filter(([, parts]) => parts.includes(''))) {
        for (const value of new Set(items.map((item) => item[attribute]).filter((one) => one !== null))) {
          await expectIds(`${attribute}=${value}`, await sqlIds(`${attribute} = $1`, value));
        }
      }
    });

    it('finds the rows within bounds, one or both', async () => {
      const items = await all();
      for (const [attribute] of filters().filter(([, parts]) => parts.includes('gte'))) {
        const values = [...new Set(items.map((item) => item[attribute]).filter((one) => one !== null))];
        await atOnce(values, async (value) => {
          const text = encodeURIComponent(String(value));
          for (const [part, operator] of Object.entries(OPERATORS)) {
            await expectIds(`${attribute}[${part}]=${text}`, await sqlIds(`${attribute} ${operator} $1`, value));
          }
          const both = `${attribute}%5Bgte%5D=${text}&${attribute}%5Blte%5D=${text}&sort=${attribute}`;
          await expectIds(both, await sqlIds(`${attribute} = $1`, value));
        });
      }
    });

    it('finds the rows with null, and the others', async () => {
      for (const [attribute] of filters().filter(([, parts]) => parts.includes('null'))) {
        await expectIds(`${attribute}[null]=true`, await sqlIds(`${attribute} IS NULL`));
        await expectIds(`${attribute}[null]=false`, await sqlIds(`${attribute} IS NOT NULL`));
      }
    });

    it('refuses what is malformed, unknown or there twice, at its parameter', async () => {
      for (const [attribute, parts] of filters()) {
        const parameters = parts.map((part) => (part === '' ? attribute : `${attribute}[${part}]`));
        await atOnce(parameters, async (parameter) => {
          for (const value of WRONG) {
            const answer = await list(`${parameter}=${encodeURIComponent(value)}`);
            const rule = expect.any(String) as string;
            expectError(answer, 'VALIDATION_ERROR', { fields: { [parameter]: rule } });
          }
          const twice = await list(`${parameter}=1&${encodeURIComponent(parameter)}=1`);
          expectError(twice, 'VALIDATION_ERROR', { fields: { [parameter]: 'once' } });
        });
        for (const other of [`${attribute}[eq]`, `${attribute}[]`, `${attribute}[gte][lt]`, `${attribute}.gte`]) {
          expectError(await list(`${other}=1`), 'VALIDATION_ERROR', { fields: { [other]: 'unknown' } });
        }
        if (!parts.includes('')) {
          expectError(await list(`${attribute}=1`), 'VALIDATION_ERROR', { fields: { [attribute]: 'unknown' } });
        }
      }
    });
  });

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
      const found = Object.fromEntries(filtersOf('/specimens', attributes));

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
