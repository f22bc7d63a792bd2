import { Controller, Get, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DeclaredAccess } from '../../src/platform/auth/declared-access';
import { fromDatabaseError } from '../../src/platform/errors/database-errors';
import { ResourceEntity } from '../../src/platform/rows/resource.entity';
import { COLLECTIONS } from '../support/resources';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';
import { folderOf, sources, testSources } from '../support/sources';

const isPlatform = (path: string) => folderOf(path) === 'platform';
/** The resources that only the tests have: see `npm run resource -- remove --examples`. */
const examples = testSources.filter(({ path }) => path.startsWith('support/examples/'));

describe('The application', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  const resources = () =>
    database().entityMetadatas.filter(
      ({ target }) => (target as { prototype: unknown }).prototype instanceof ResourceEntity,
    );

  it('says of every route who may call it', () => {
    const routes = api.app.nest.get(DeclaredAccess).routes();

    expect(routes.length).toBeGreaterThan(10);
    expect(routes.filter(({ access }) => access === undefined).map(({ name }) => name)).toEqual([]);
  });

  it('does not start with a route that does not say it', async () => {
    @Controller('forgotten')
    class ForgottenController {
      @Get()
      list(): void {}
    }
    @Module({ controllers: [ForgottenController] })
    class ForgottenModule {}

    await expect(startApp({ imports: [ForgottenModule], databaseUrl: api.app.databaseUrl })).rejects.toThrow(
      'GET forgotten (ForgottenController.list)',
    );
  });

  it('has entities that say what the migrations made', async () => {
    const { upQueries } = await database().driver.createSchemaBuilder().log();

    expect(upQueries.map(({ query }) => query + hintFor(query))).toEqual([]);
  });

  it('names no table of a resource in the platform', () => {
    const tables = database().entityMetadatas.flatMap(({ target, tableName }) =>
      [...sources, ...examples].some(
        ({ path, text }) => !isPlatform(path) && text.includes(`class ${(target as { name: string }).name} `),
      )
        ? [tableName]
        : [],
    );
    const named = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ON) (?:${tables.join('|')})\\b`);

    expect(tables).toEqual(expect.arrayContaining(['users', 'orders', 'order_items', 'uploads']));
    expect(tables).not.toContain('sessions');
    expect(sources.filter(({ path, text }) => isPlatform(path) && named.test(text)).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('touches the rows of every resource when they change', async () => {
    const rows: { table: string }[] = await database().query(
      `SELECT tgrelid::regclass::text AS table FROM pg_trigger
        WHERE tgfoid = 'touch_row'::regproc AND tgenabled = 'O' AND tgtype = 19 -- before update, for each row`,
    );
    const touched = rows.map(({ table }) => table);
    const tables = resources().map(({ tableName }) => tableName);

    expect(tables).toContain('users');
    expect(tables.filter((table) => !touched.includes(table))).toEqual([]);
  });

  it('has an index for every attribute that a collection can be sorted by', async () => {
    const rows: { table: string; columns: string[] }[] = await database().query(
      `SELECT indrelid::regclass::text AS table, array_agg(attname ORDER BY ordinality)::text[] AS columns
         FROM pg_index, unnest(indkey) WITH ORDINALITY AS key (number, ordinality), pg_attribute
        WHERE attrelid = indrelid AND attnum = number AND indrelid::regclass::text = ANY ($1)
        GROUP BY indexrelid, indrelid`,
      [resources().map(({ tableName }) => tableName)],
    );
    // By the attribute and then by the id, which is the order of a page.
    const sorted = rows.flatMap(({ table, columns: [first, second] }) =>
      first === 'id' || second === 'id' ? [`${table}.${first}`] : [],
    );
    const asked = await sortableAttributes();

    expect(asked).toContain('users.username');
    expect(asked.filter((attribute) => !sorted.includes(attribute))).toEqual([]);
  });

  it('has constraints whose names tell the attribute, for the error that a caller gets', async () => {
    const unknown: string[] = [];
    for (const { tableName, columns } of resources()) {
      const attributes = columns.map(({ databaseName }) => databaseName);
      for (const { name, code } of await constraintsOf(tableName)) {
        const attribute = attributeNamedBy(tableName, name, code);
        if (!attributes.includes(attribute ?? '')) unknown.push(`${name}: ${attribute}`);
      }
    }

    expect(unknown).toEqual([]);
  });

  /** `<table>.<attribute>` for each that the documentation offers for sorting. */
  async function sortableAttributes(): Promise<string[]> {
    const { paths } = (await api.get('//docs/json')).body;
    return Object.keys(paths).flatMap((path) => {
      const sort = paths[path].get?.parameters.find(({ name }: { name: string }) => name === 'sort');
      return ((sort?.schema.enum ?? []) as string[]).map((attribute) => `${tableAt(path)}.${attribute}`);
    });
  }

  /** As the description of a collection says it, else by the noun of its path. */
  function tableAt(path: string): string {
    const described = COLLECTIONS.find(({ name }) => path === `/api/v1${name}`);
    const table = described?.table ?? path.split('/').at(-1)!.replaceAll('-', '_');
    if (resources().some(({ tableName }) => tableName === table)) return table;
    throw new Error(`No entity has the table ${table} of ${path}: describe the collection in test/support/resources/`);
  }

  function constraintsOf(table: string): Promise<{ name: string; code: string }[]> {
    return database().query(
      `SELECT conname AS name, CASE contype WHEN 'c' THEN '23514' ELSE '23503' END AS code
         FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('c', 'f')
        UNION ALL
       SELECT indexrelid::regclass::text, '23505' FROM pg_index
        WHERE indrelid = $1::regclass AND indisunique AND NOT indisprimary`,
      [table],
    );
  }

  /** Asks the function that answers the error. */
  function attributeNamedBy(table: string, constraint: string, code: string): string | undefined {
    const error = fromDatabaseError(Object.assign(new Error(), { code, constraint, table, schema: 'public' }));
    return error?.fields?.[0].field ?? error?.details.split(':')[0];
  }
});

/** What to write where TypeORM finds the same difference again after each migration. */
function hintFor(query: string): string {
  const isCast = / SET DEFAULT .*::/.test(query);
  return isCast
    ? ' -- TypeORM reads defaults without their type: write `default: () => "\'[]\'"`, or `default: []`'
    : '';
}
