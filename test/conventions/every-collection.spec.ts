import { DataSource } from 'typeorm';
import { type Answer, atOnce, type Client, expectError, statementsOf, times } from '../../src/platform/testing';
import { ALL_ARE_ASKED, describeForEach, lacks } from '../support/asked';
import { Fixtures, type Row } from '../support/fixtures';
import { requestOf, routesOf, sendTo } from '../support/requests';
import { linesOf } from '../support/resource';
import { COLLECTIONS_AND_SPECIMENS as COLLECTIONS, useSpecimens } from '../support/specimens';
import { wrongListsOf } from '../support/wrong-lists';

type Item = Record<string, never> & { id: number };

const TEXTS = [
  'pear',
  'Apple pie',
  'apple tart',
  'snakeXcase',
  'snake_case',
  '100 per cent',
  '100% sure',
  'back\\slash',
  'Crème brûlée',
];
/** The rows that have the text of a line, where other collections of the resource bring some. */
const ROWS_OF_LINE: Record<string, number> = { '/posts': 2, '/comments': 3 };
const SEARCHES = ['APPLE', 'snake_case', '%', '_', '\\', 'CRÈME', 'e', "'", ' pie '];

/** In SQL: a column of the collection's own table, or a table beside it and the condition on it. */
const SEARCHED = /"resource"\."(\w+)" ILIKE|FROM (\w+) WHERE ([^()]* ILIKE)/g;
const COLUMN = /(\w+) ILIKE/g;

/** What is true of every collection, asked of all of them; the finer points are in lists.spec.ts. */
describe('every collection', () => {
  const api = useSpecimens();
  let own: Fixtures;
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
  });

  /** Others are made of relations or of several columns, which nobody can tell from here. */
  const isColumn = (table: string, attribute: string) => {
    const entity = api.app.nest.get(DataSource).entityMetadatas.find(({ tableName }) => tableName === table);
    if (!entity) throw new Error(`No entity has the table ${table}: mend \`table\` in test/support/resources/`);
    return entity.columns.some(({ propertyPath }) => propertyPath === attribute);
  };
  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);

  const paths = Object.fromEntries(COLLECTIONS.map(({ name }) => [name, name]));
  /** Which rows belong to a collection. */
  const scopes: Record<string, string> = {};

  beforeAll(async () => {
    const others = new Fixtures(api, await api.user());
    const lines = linesOf(TEXTS);
    for (const { name, fill } of COLLECTIONS) {
      const place = await fill(own, others, lines);
      if (!place) continue;
      paths[name] = place.path;
      scopes[name] = `WHERE ${place.where}`;
    }
  });

  it('is asked', async () => {
    const reads = routesOf(api).filter((route) => route.startsWith('GET /api/v1/'));
    const answers = await Promise.all(reads.map(async (route) => sendTo(admin, route, await requestOf(route, own))));
    const collections = reads.filter((_, index) => answers[index].body.pagination !== undefined);

    const names = collections.map((route) => route.replace('GET /api/v1', '').replace(/:\w+/, '{id}'));
    lacks([
      ...names
        .filter((one) => !(one in paths))
        .map(
          (one) =>
            `${one} answers pages, and nobody describes it: add it to \`collections\` in test/support/resources/`,
        ),
      ...Object.keys(paths)
        .filter((one) => !names.includes(one))
        .map(
          (one) =>
            `${one} is a collection in test/support/resources/, and GET ${one} answers no page: mend one of them`,
        ),
    ]);
  });

  it('has a trigram index for each column that it searches', async () => {
    const rows = await api.app.nest.get(DataSource).query<{ column: string }[]>(
      `SELECT indrelid::regclass || '.' || attname AS column
         FROM pg_index JOIN pg_opclass ON pg_opclass.oid = indclass[0]
              JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE opcname = 'gin_trgm_ops'`,
    );
    const indexed = rows.map(({ column }) => column);
    const searched: string[] = [];
    for (const { name, table } of COLLECTIONS.filter(({ textsOf }) => textsOf)) {
      const statements = await statementsOf(() => admin.get(`${paths[name]}?search=apple`));
      for (const [, own, other, condition] of statements.join('\n').matchAll(SEARCHED)) {
        if (own) searched.push(`${table}.${own}`);
        else for (const [, column] of condition.matchAll(COLUMN)) searched.push(`${other}.${column}`);
      }
    }

    if (ALL_ARE_ASKED) expect(searched).toEqual(expect.arrayContaining(['users.email', 'order_items.name']));
    lacks(
      searched
        .filter((column) => !indexed.includes(column))
        .map(
          (column) =>
            `No trigram index has \`${column}\`, which lists search: add it to the migration (docs/reference.md, Migrations)`,
        ),
    );
  });

  describeForEach(COLLECTIONS)('$name', ({ name, table, attributes, sortable, statuses, textsOf }) => {
    const list = (parameters = '') => admin.get(`${paths[name]}${parameters}`);
    const idsOf = ({ body }: Answer) => body.data.map(({ id }: Item) => id) as number[];
    const hasText = (item: Item, search: string) => textsOf!(item).some((text) => contains(text, search));
    const all = async () => (await list('?size=100')).body.data as Item[];
    /** As the database sorts them. */
    const sorted = async (sort: string, order: string) => {
      const rows = await query(`SELECT id FROM ${table} ${scopes[name] ?? ''} ORDER BY ${sort} ${order}, id ${order}`);
      return rows.map(({ id }) => id);
    };

    it('answers a page of whole items, and how many there are', async () => {
      const ids = await sorted('id', 'asc');
      const answer = await list();

      const pagination = { page: 0, size: 20, total: ids.length, totalPages: Math.ceil(ids.length / 20) };
      expect(answer).toMatchObject({ status: 200, body: { pagination } });
      expect(idsOf(answer)).toEqual(ids.slice(0, 20));
      expect(ids.length).toBeGreaterThanOrEqual(TEXTS.length);
      const [shown] = (answer.body.data as object[]).map((item) => Object.keys(item));
      lacks([
        ...shown
          .filter((one) => !attributes.includes(one))
          .map(
            (one) =>
              `${name} shows \`${one}\`: remove it from the mapping of the DTO, or add it to \`attributes\` of ${name} in test/support/resources/`,
          ),
        ...attributes
          .filter((one) => !shown.includes(one))
          .map(
            (one) =>
              `${name} doesn't show \`${one}\`: add it to the mapping of the DTO, or remove it from \`attributes\` of ${name}`,
          ),
      ]);
      for (const item of answer.body.data) expect(Object.keys(item as object)).toEqual(attributes);
    });

    it.each(sortable)('is sorted by %s, in pages that neither overlap nor skip', async (sort) => {
      for (const order of ['asc', 'desc']) {
        const ids = await sorted(sort, order);
        const page = (number: number) => list(`?sort=${sort}&order=${order}&size=4&page=${number}`);
        const pages = await Promise.all(times(Math.ceil(ids.length / 4), page));
        expect(pages.flatMap(idsOf)).toEqual(ids);
        expect(pages.map(({ body }) => body.pagination.total)).toEqual(pages.map(() => ids.length));
        expect(idsOf(await list(`?sortBy=${sort}&order=${order}&limit=100`))).toEqual(ids.slice(0, 100));
      }
    });

    it('is sorted by id, and upwards, where nothing else is said', async () => {
      const first = async (sort: string, order: string) => (await sorted(sort, order)).slice(0, 100);
      expect(idsOf(await list('?limit=100'))).toEqual(await first('id', 'asc'));
      expect(idsOf(await list('?limit=100&order=desc'))).toEqual(await first('id', 'desc'));
      expect(idsOf(await list(`?limit=100&sort=${sortable.at(-1)}`))).toEqual(await first(sortable.at(-1)!, 'asc'));
    });

    it('answers an empty page past the end', async () => {
      const { length: total } = await sorted('id', 'asc');
      for (const page of [Math.ceil(total / 4), 2 ** 31 - 1]) {
        const pagination = { page, size: 4, total, totalPages: Math.ceil(total / 4) };
        expect(await list(`?size=4&page=${page}`)).toMatchObject({ status: 200, body: { data: [], pagination } });
      }
    });

    if (!textsOf) {
      it('has no search', async () => {
        expectError(await list('?search=apple'), 'VALIDATION_ERROR', { fields: { search: 'unknown' } });
      });
    } else {
      it('finds text in any case, and counts what it finds', async () => {
        const items = await all();
        const totals: Record<string, number> = {};
        await atOnce(SEARCHES, async (search) => {
          const found = items.filter((item) => hasText(item, search));
          const parameter = `?search=${encodeURIComponent(search)}`;
          expect([search, idsOf(await list(`${parameter}&size=100`))]).toEqual([search, found.map(({ id }) => id)]);
          const { data, pagination } = (await list(`${parameter}&size=2&page=1&sort=created_at`)).body;
          expect(pagination).toMatchObject({ total: found.length, totalPages: Math.ceil(found.length / 2) });
          expect(data).toHaveLength(Math.min(2, Math.max(0, found.length - 2)));
          totals[search] = found.length;
        });
        // An oracle that finds nothing, or everything, would prove nothing.
        expect([totals['%'], totals._, totals['CRÈME']]).toEqual(times(3, () => ROWS_OF_LINE[name] ?? 1));
      });
    }

    if (statuses.length === 0) {
      it('has no status to be filtered by', async () => {
        expectError(await list('?status=ACTIVE'), 'VALIDATION_ERROR', { fields: { status: 'unknown' } });
      });
    } else {
      it.each(statuses)('is filtered by the status %s, alone and with all else', async (status) => {
        const items = (await all()).filter((item) => item.status === status);
        const ids = items.map(({ id }) => id);

        expect(ids.length).toBeGreaterThan(0);
        expect(idsOf(await list(`?status=${status}&size=100`))).toEqual(ids);
        const { data, pagination } = (await list(`?status=${status}&size=1&page=1&fields=id`)).body;
        expect(data).toEqual(ids.slice(1, 2).map((id) => ({ id })));
        expect(pagination.total).toBe(ids.length);
        if (!textsOf) return;
        const both = items.filter((item) => hasText(item, 'apple'));
        const apples = both.map(({ id }) => id).reverse();
        expect(idsOf(await list(`?status=${status}&search=apple&order=desc`))).toEqual(apples);
      });
    }

    it('shows the attributes asked for, each alone, two of them, or all, in its own order', async () => {
      const items = await all();
      const last = attributes.at(-1)!;
      await atOnce(attributes, async (name) => {
        expect((await list(`?fields=${name}&size=100`)).body.data).toEqual(items.map((item) => only(item, [name])));
        const two = (await list(`?fields=${last},${name}&size=100`)).body.data as Item[];
        expect(two.map((item) => Object.entries(item))).toEqual(
          items.map((item) => Object.entries(only(item, name === last ? [last] : [name, last]))),
        );
      });
      expect((await list(`?fields=${[...attributes].reverse().join()}&size=100`)).body.data).toEqual(items);
    });

    it('links to its other pages, and every link leads there', async () => {
      const ids = await sorted('id', 'desc');
      const pages = { first: 0, prev: 0, next: 2, last: Math.ceil(ids.length / 3) - 1 };
      const links = linksOf(await list('?size=3&page=1&order=desc'));

      expect(Object.keys(links)).toEqual([...Object.keys(pages), 'self', 'describedby']);
      for (const [relation, page] of Object.entries(pages)) {
        const answer = await admin.get(`/${links[relation]}`);
        expect(answer.body.pagination.page).toBe(page);
        expect(idsOf(answer)).toEqual(ids.slice(page * 3, page * 3 + 3));
      }
    });

    it('refuses what it does not know', async () => {
      const unsortable = attributes.filter((name) => !sortable.includes(name));
      const wrong = [
        ...wrongListsOf(sortable, textsOf !== undefined),
        ...unsortable.map((name) => [`sort=${name}`, 'sort', 'enum']),
        ...(statuses.length > 0 ? ['GONE', '', statuses[0].toLowerCase()] : []).map((value) => [
          `status=${value}`,
          'status',
          'enum',
        ]),
      ];
      await atOnce(wrong, async ([parameters, field, rule]) =>
        expectError(await list(`?${parameters}`), 'VALIDATION_ERROR', { fields: { [field]: rule } }),
      );
    });

    it('reads a page in two statements, and no column that nobody asked for', async () => {
      const status = statuses.length > 0 ? `&status=${statuses[0]}` : '';
      const ask = (parameters: string) => async () => expect(await list(parameters)).toMatchObject({ status: 200 });
      const ofList = (statements: string[]) => statements.filter((text) => text.includes(table));

      const search = textsOf ? 'search=e&' : '';
      const both = ofList(await statementsOf(ask(`?${search}sort=${sortable.at(-1)}&size=2&page=1${status}`)));
      // The total of a list without a search may be known.
      expect(both.length).toBe(textsOf ? 2 : Math.min(2, both.length));
      expect(ofList(await statementsOf(ask(`?size=2&page=1${status}`))).length).toBeLessThanOrEqual(2);
      for (const name of attributes.filter((one) => isColumn(table, one))) {
        const statements = await statementsOf(ask(`?fields=${name}`));
        const rows = statements.find((text) => text.includes(`FROM "${table}"`) && !text.includes('count('))!;
        // A column of long texts is weighed first.
        const selected = rows
          .replace(/^WITH .*\) (?=SELECT ")/s, '')
          .split(' FROM ')[0]
          .replaceAll(/ AS "\w+"/g, '');
        const columns = [...selected.matchAll(/"(\w+)"(?:,|$)/g)].map(([, column]) => column);
        expect([name, new Set(columns)]).toEqual([name, new Set(['id', name])]);
      }
    });
  });
});

function contains(text: string | null, search: string): boolean {
  return text !== null && text.toLowerCase().includes(search.trim().toLowerCase());
}

function only(item: Item, names: string[]): object {
  return Object.fromEntries(names.map((name) => [name, item[name]]));
}

/** Where a `Link` header leads, by relation. */
function linksOf({ headers }: Answer): Record<string, string> {
  const links = headers.get('link')!.matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, target, relation]) => [relation, target]));
}
