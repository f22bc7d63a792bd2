import { DataSource } from 'typeorm';
import { type Answer, atOnce, type Client, expectError } from '../../src/platform/testing';
import { describeForEach, lacks } from '../support/asked';
import { filtersOf, listsOf } from '../support/documented-filters';
import { Fixtures, type Row } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { linesOf } from '../support/resource';
import { STEADY_COLLECTIONS as COLLECTIONS, useSpecimens } from '../support/specimens';

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
    const lines = linesOf(LINES);
    for (const { name, fill } of COLLECTIONS) places[name] = (await fill(own, others, lines)) ?? { path: name };
  });

  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);
  const idsOf = ({ body }: Answer) => (body.data as Item[]).map(({ id }) => id);

  describeForEach(COLLECTIONS)('of $name', ({ name, table, attributes }) => {
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
    const filters = () => [...filtersOf(document, name, attributes)];
    /** Those that are lists of ids. */
    const listed = () => listsOf(document, name).filter((one) => attributes.includes(one));

    it('has an index for each attribute that it compares', async () => {
      const rows = await query(
        `SELECT attname AS name FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
           JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
          WHERE indrelid = $1::regclass AND amname = 'btree'`,
        [table],
      );
      const indexed = rows.map((row) => row.name as string);

      lacks(
        filters().flatMap(([attribute]) =>
          indexed.includes(attribute)
            ? []
            : [
                `No index begins with \`${attribute}\` of ${table}, which ${name} is filtered by: add it to @SortableBy() or @Index()`,
              ],
        ),
      );
    });

    it('finds the rows with a value, and counts them', async () => {
      const items = await all();
      for (const [attribute] of filters().filter(([, parts]) => parts.includes(''))) {
        for (const value of new Set(items.map((item) => item[attribute]).filter((one) => one !== null))) {
          await expectIds(`${attribute}=${value}`, await sqlIds(`${attribute} = $1`, value));
        }
      }
    });

    it('finds the rows with one of some ids', async () => {
      const items = await all();
      for (const attribute of listed()) {
        const values = [...new Set(items.map((item) => item[attribute]))].filter((one) => one !== null);
        const ids = await sqlIds(`${attribute} = ANY($1)`, values);

        await expectIds(`${attribute}=${[...values, 987_654_321].join()}`, ids);
        await expectIds([...values, '9223372036854775807'].map((one) => `${attribute}=${one}`).join('&'), ids);
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
          const rule = listed().includes(parameter) ? 'ids' : 'once';
          const twice = await list(`${parameter}=x&${encodeURIComponent(parameter)}=1`);
          expectError(twice, 'VALIDATION_ERROR', { fields: { [parameter]: rule } });
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
});
