import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Controller, Get, Module } from '@nestjs/common';
import ts from 'typescript';
import { DataSource } from 'typeorm';
import { DeclaredAccess } from '../../src/auth/declared-access';
import { fromDatabaseError } from '../../src/conventions/errors/database-errors';
import { ResourceEntity } from '../../src/database/resource.entity';
import { TestApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

const MAX_LINES = 200;

/** What each layer may import besides itself; imports go one way. */
const platform = ['config', 'database', 'auth'];
const layers: Record<string, string[]> = {
  config: [],
  database: ['config'],
  auth: ['config', 'database'],
  conventions: platform,
  operations: [...platform, 'conventions'],
  resources: [...platform, 'conventions'],
  demo: [...platform, 'conventions', 'resources'],
  seed: [...platform, 'resources'],
};
/** The files above the layers, each with what only they may import. */
const top: Record<string, string[]> = {
  'main.ts': [...platform, 'operations', 'demo', 'app.module', 'configure-app'],
  'configure-app.ts': [...platform, 'conventions', 'operations'],
  'app.module.ts': [...platform, 'conventions', 'operations', 'resources', 'demo'],
};
/** Between resources only child to parent. */
const parents: Record<string, string[]> = {
  tokens: ['users'],
  posts: ['users'],
  comments: ['posts', 'users'],
  replies: ['comments', 'posts', 'users'],
  orders: ['products', 'users'],
  uploads: ['users'],
};

/** A file of src/ with a slash between its folders, e.g. `resources/users/user.dto.ts`. */
interface Source {
  path: string;
  text: string;
  /** The files of src/ that it imports, without their extension. */
  imports: string[];
}

const sources: Source[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join('src', path), 'utf8');
    const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
    const own = names.filter((name) => name.startsWith('.'));
    return { path, text, imports: own.map((name) => posix.join(posix.dirname(path), name)) };
  });

const layerOf = (path: string) => path.split('/')[0];
const resourceOf = (path: string) => path.split('/')[1];

describe('The source code', () => {
  it('imports from layer to layer in one direction', () => {
    const offences = sources.flatMap(({ path, imports }) => {
      const allowed = top[path] ?? [...(layers[layerOf(path)] ?? []), layerOf(path)];
      return imports.filter((target) => !allowed.includes(layerOf(target))).map((target) => `${path} -> ${target}`);
    });

    expect(sources.length).toBeGreaterThan(50);
    expect(offences).toEqual([]);
  });

  it('imports between resources from child to parent', () => {
    const offences = sources
      .filter(({ path }) => layerOf(path) === 'resources')
      .flatMap(({ path, imports }) => {
        const allowed = [resourceOf(path), ...(parents[resourceOf(path)] ?? [])];
        return imports
          .filter((target) => layerOf(target) === 'resources' && !allowed.includes(resourceOf(target)))
          .map((target) => `${path} -> ${target}`);
      });

    expect(offences).toEqual([]);
  });

  it('reads the environment in one place', () => {
    expect(offenders(/process\.env/).filter((path) => layerOf(path) !== 'config')).toEqual([]);
  });

  it('exports by name', () => {
    expect(offenders(/^export default\b/m)).toEqual([]);
  });

  it('is checked by the compiler everywhere', () => {
    const unchecked = sources.filter(({ path, text }) =>
      hasAny(ts.createSourceFile(path, text, ts.ScriptTarget.Latest)),
    );

    expect(unchecked.map(({ path }) => path)).toEqual([]);
    expect(offenders(/@ts-(ignore|expect-error|nocheck)/)).toEqual([]);
  });

  it('consists of files that fit into a head', () => {
    const long = sources
      .filter(({ path }) => !path.startsWith('database/migrations/'))
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES);

    expect(long).toEqual([]);
  });

  const offenders = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
});

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

    await expect(TestApp.start({ imports: [ForgottenModule], databaseUrl: api.app.databaseUrl })).rejects.toThrow(
      'GET forgotten (ForgottenController.list)',
    );
  });

  it('has entities that say what the migrations made', async () => {
    const { upQueries } = await database().driver.createSchemaBuilder().log();

    expect(upQueries.map(({ query }) => query)).toEqual([]);
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
      return ((sort?.schema.enum ?? []) as string[]).map(
        (attribute) => `${path.split('/').at(-1)!.replaceAll('-', '_')}.${attribute}`,
      );
    });
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

/** Whether the type `any` stands somewhere. */
function hasAny(node: ts.Node): boolean {
  return (
    node.kind === ts.SyntaxKind.AnyKeyword || (ts.forEachChild(node, (child) => hasAny(child) || undefined) ?? false)
  );
}
