import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Controller, Get, Module } from '@nestjs/common';
import ts from 'typescript';
import { DataSource } from 'typeorm';
import { DeclaredAccess } from '../../src/platform/auth/declared-access';
import { fromDatabaseError } from '../../src/platform/errors/database-errors';
import { ResourceEntity } from '../../src/platform/rows/resource.entity';
import { COLLECTIONS } from '../support/resources';
import { TestApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

const MAX_LINES = 200;
/** The names of the platform that others may use. */
const FACE = 'platform';

/** Between resources only child to parent. */
const parents: Record<string, string[]> = {
  tokens: ['users'],
  posts: ['users'],
  comments: ['posts', 'users'],
  replies: ['comments', 'posts', 'users'],
  orders: ['products', 'users'],
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

const folderOf = (path: string) => path.split('/')[0];
const resourceOf = (path: string) => path.split('/')[1];

describe('The source code', () => {
  it('has no cycle among the files and folders of any folder, imports of types included', () => {
    const folders = new Set(sources.flatMap(({ path }) => foldersOf(path)));
    const cycles = [...folders].flatMap((folder) => cyclesIn(folder));

    expect(folders.size).toBeGreaterThan(30);
    expect(cycles).toEqual([]);
  });

  it('imports nothing into the platform', () => {
    expect(importsOf(isPlatform, (target) => !isPlatform(target))).toEqual([]);
  });

  it('imports of the platform only its face', () => {
    expect(
      importsOf(
        (path) => !isPlatform(path),
        (target) => isPlatform(target) && target !== FACE,
      ),
    ).toEqual([]);
  });

  it('exports nothing by the face that nobody outside the platform uses', () => {
    const tests = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((name) => join('test', name));
    const users = [
      ...sources.filter(({ path }) => !isPlatform(path)).map(({ path }) => join('src', path)),
      'ormconfig.ts',
    ];
    const all = [...users, ...tests.filter((name) => name.endsWith('.ts')), ...documents()];
    const text = all.map((path) => readFileSync(path, 'utf8')).join('\n');

    expect(namesOfFace().length).toBeGreaterThan(50);
    expect(namesOfFace().filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  it('imports between resources from child to parent', () => {
    const offences = sources
      .filter(({ path }) => folderOf(path) === 'resources')
      .flatMap(({ path, imports }) => {
        const allowed = [resourceOf(path), ...(parents[resourceOf(path)] ?? [])];
        return imports
          .filter((target) => folderOf(target) === 'resources' && !allowed.includes(resourceOf(target)))
          .map((target) => `${path} -> ${target}`);
      });

    expect(offences).toEqual([]);
  });

  it('reads the environment in one place', () => {
    expect(offenders(/process\.env/).filter((path) => !path.startsWith('platform/config/'))).toEqual([]);
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
      .filter(({ path }) => !path.startsWith('migrations/'))
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES);

    expect(long).toEqual([]);
  });

  const offenders = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
});

const isPlatform = (path: string) => folderOf(path) === 'platform';

/** `<file> -> <file>` for each import from the one kind of file to the other. */
function importsOf(isFrom: (path: string) => boolean, isTo: (path: string) => boolean): string[] {
  return sources
    .filter(({ path }) => isFrom(path))
    .flatMap(({ path, imports }) => imports.filter(isTo).map((target) => `${path} -> ${target}`));
}

/** All folders that a file lies in, src/ being the empty name. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return ['', ...parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)];
}

/** The files and folders of a folder that import each other in a circle. */
function cyclesIn(folder: string): string[] {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    for (const target of imports) {
      if (!path.startsWith(folder) || !target.startsWith(folder)) continue;
      const [from, to] = [path, target].map((name) => name.slice(folder.length).split('/')[0].replace(/\.ts$/, ''));
      if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
    }
  }
  return [...arrows.keys()].filter((name) => reaches(arrows, name).has(name)).map((name) => `${folder}${name}`);
}

function reaches(arrows: Map<string, Set<string>>, from: string, found = new Set<string>()): Set<string> {
  for (const to of arrows.get(from) ?? []) {
    if (found.has(to)) continue;
    found.add(to);
    reaches(arrows, to, found);
  }
  return found;
}

const documents = () => readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [join('docs', name)] : []));

function namesOfFace(): string[] {
  const exported = readFileSync('src/platform/index.ts', 'utf8').matchAll(/^export \{([^}]*)\}/gms);
  return [...exported].flatMap(([, names]) =>
    names.split(',').flatMap((name) => name.trim().replace('type ', '') || []),
  );
}

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

    expect(upQueries.map(({ query }) => query + hintFor(query))).toEqual([]);
  });

  it('names no table of a resource in the platform', () => {
    const tables = database().entityMetadatas.flatMap(({ target, tableName }) =>
      sources.some(
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

/** Whether the type `any` stands somewhere. */
function hasAny(node: ts.Node): boolean {
  return (
    node.kind === ts.SyntaxKind.AnyKeyword || (ts.forEachChild(node, (child) => hasAny(child) || undefined) ?? false)
  );
}
