import { DataSource } from 'typeorm';
import { fromDatabaseError } from '../../src/platform/errors/database-errors';
import { attributesOf } from '../../src/platform/input/fields';
import type { AuditedTable } from '../../src/platform/rows/audit-expressions';
import { ResourceEntity } from '../../src/platform/rows/resource.entity';
import { ALL_ARE_ASKED, describeForEach, lacks } from '../support/asked';
import { documented } from '../support/declared-defaults';
import { COLLECTIONS, WRITABLES } from '../support/resources';
import { useTestApi } from '../support/test-api';

const IN_MIGRATION = 'add it to the migration (docs/reference.md, Migrations)';
const NAMED = [...new Set([...COLLECTIONS, ...WRITABLES].map(({ table }) => table))];
/** The arguments of the trigger that counts rows, if these columns are there. */
const COUNTED_BY = ['status', 'deleted_at'];
/** The audit itself, and attempts to send what it has. */
const NOT_AUDITED = ['audit_events', 'webhook_deliveries'];
/** Columns of all resources, which an event has in other ways. */
const ALWAYS = ['id', 'created_at', 'updated_at', 'version'];
/** The ends of the names of the triggers that `auditRows()` makes. */
const CHANGES = ['insert', 'update', 'delete', 'truncate'];

/** What the tables of all resources have beside their columns; the finer points are in said-once.spec.ts. */
describe('every table', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  const query = <T>(text: string, values: unknown[] = []) => database().query<T[]>(text, values);
  const tables = () => {
    const all = database().entityMetadatas.filter(
      ({ target }) => (target as { prototype: unknown }).prototype instanceof ResourceEntity,
    );
    return all.filter(({ tableName }) => ALL_ARE_ASKED || NAMED.includes(tableName));
  };

  it('has an entity', () => {
    const known = database().entityMetadatas.map(({ tableName }) => tableName);

    if (ALL_ARE_ASKED) expect(known).toEqual(expect.arrayContaining(['users', 'orders', 'uploads']));
    lacks(
      NAMED.filter((one) => !known.includes(one)).map(
        (one) =>
          `No entity has the table ${one}: mend \`table\` in test/support/resources/, or add the entity to its module`,
      ),
    );
  });

  it('is as its entity says', async () => {
    const { upQueries } = await database().driver.createSchemaBuilder().log();
    const own = upQueries
      .map(({ query }) => query)
      .filter((text) => ALL_ARE_ASKED || NAMED.some((one) => text.includes(`"${one}"`)));

    lacks(
      own.map(
        (text) =>
          `The migrations lack what an entity says; npm run migration:generate writes it: ${text}${hintFor(text)}`,
      ),
    );
  });

  it('is touched by a trigger when a row changes', async () => {
    const rows = await query<{ table: string }>(
      `SELECT tgrelid::regclass::text AS table FROM pg_trigger
        WHERE tgfoid = 'touch_row'::regproc AND tgenabled = 'O' AND tgtype = 19 -- before update, for each row`,
    );
    const touched = rows.map(({ table }) => table);

    lacks(
      tables().flatMap(({ tableName }) =>
        touched.includes(tableName)
          ? []
          : [
              `${tableName} has no trigger ${tableName}_touch, which keeps \`version\` and \`updated_at\`: ${IN_MIGRATION}`,
            ],
      ),
    );
  });

  it('has constraints whose names tell the attribute, for the error that a caller gets', async () => {
    const problems: string[] = [];
    for (const { tableName, columns } of tables()) {
      const attributes = columns.map(({ databaseName }) => databaseName);
      for (const { name, code } of await constraintsOf(tableName)) {
        const attribute = attributeNamedBy(tableName, name, code);
        if (attributes.includes(attribute ?? '')) continue;
        problems.push(`The constraint ${name} names no attribute: call it ${tableName}_<attribute>_<rule>`);
      }
    }

    lacks(problems);
  });

  it('is counted by what it has, if it is counted', async () => {
    const rows = await query<{ table: string; args: string }>(
      `SELECT tgrelid::regclass::text AS table, encode(tgargs, 'escape') AS args FROM pg_trigger
        WHERE tgname = tgrelid::regclass || '_count_added'`,
    );
    const problems = tables().flatMap(({ tableName, columns }) => {
      const counted = rows.find(({ table }) => table === tableName);
      const names = COUNTED_BY.filter((one) => columns.some(({ databaseName }) => databaseName === one));
      const given = counted?.args.split('\\000').filter((one) => one !== '') ?? names;
      return names
        .filter((one) => !given.includes(one))
        .map(
          (one) =>
            `countRows() of ${tableName} leaves out \`${one}\`: write countRows(queryRunner, '${tableName}', { ${one}: true })`,
        );
    });

    lacks(problems);
  });

  it('leaves an audit event for each change', async () => {
    const rows = await query<{ table: string; kind: string }>(
      `SELECT tgrelid::regclass::text AS table, substring(tgname FROM '[a-z]+$') AS kind
         FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE proname = tgrelid::regclass || '_audit' AND tgenabled = 'O'`,
    );
    const audited = new Set(rows.map(({ table, kind }) => `${table} ${kind}`));
    const isAudited = (table: string) => CHANGES.every((kind) => audited.has(`${table} ${kind}`));

    lacks(
      tables()
        .filter(({ tableName }) => !isAudited(tableName))
        .map(({ tableName }) => `${tableName} leaves no audit events: write auditRows(queryRunner, '${tableName}')`),
    );
  });

  describeForEach(COLLECTIONS.filter(({ table }) => !NOT_AUDITED.includes(table)))(
    'of $name',
    ({ table, attributes }) => {
      it('shows the audit no column that its DTO hides', async () => {
        const [{ options }] = await query<{ options: AuditedTable }>(
          `SELECT obj_description(oid, 'pg_proc')::json AS options FROM pg_proc WHERE proname = $1`,
          [`${table}_audit`],
        );
        const { id = 'id', secret = [], omit = [] } = options;
        const { columns } = database().entityMetadatas.find(({ tableName }) => tableName === table)!;
        const shown = [...attributes, id, ...secret, ...omit, ...ALWAYS, 'deleted_at'];

        lacks(
          columns
            .filter(({ databaseName, propertyName }) => !shown.includes(databaseName) && !shown.includes(propertyName))
            .map(
              ({ databaseName }) =>
                `Audit events of ${table} show \`${databaseName}\`, which the DTO doesn't: name it in \`secret\` or \`omit\` of auditRows()`,
            ),
        );
      });
    },
  );

  describeForEach(WRITABLES)('of $noun', ({ noun, table, input, defaults }) => {
    it('has the defaults of the DTO', () => {
      const { columns } = database().entityMetadatas.find(({ tableName }) => tableName === table)!;
      const optional = attributesOf(input).filter((name) => documented(input, name).required === false);
      const problems = optional.flatMap((name) => {
        const column = columns.find(({ propertyName }) => propertyName === name);
        // An attribute that is no column, such as a list of ids, has its default in the DTO alone.
        if (!column) return [];
        const ofColumn = valueOf(column.default) ?? (column.isNullable ? null : undefined);
        const [one, other] = [defaults[name], ofColumn].map((value) => JSON.stringify(value));
        return one === other
          ? []
          : [`The default of ${noun}.${name} is ${one} in the DTO, and ${other} in its @Column()`];
      });

      lacks(problems);
    });
  });

  describeForEach(COLLECTIONS)('of $name', ({ name, table, attributes, sortable }) => {
    it('has an index for each attribute that lists sort by, and no other such index', async () => {
      const rows = await query<{ index: string; columns: string[] }>(
        `SELECT indexrelid::regclass::text AS index, array_agg(attname ORDER BY ordinality)::text[] AS columns
           FROM pg_index, unnest(indkey) WITH ORDINALITY AS key (number, ordinality), pg_attribute
          WHERE attrelid = indrelid AND attnum = number AND indrelid = $1::regclass GROUP BY indexrelid`,
        [table],
      );
      // By the attribute and then by the id, which is the order of a page.
      const sorted = rows.filter(({ columns: [, second] }) => second === 'id').map(({ columns: [first] }) => first);
      const names = sortable.filter((one) => one !== 'id').map((one) => `${table}_${one}_sort`);
      const others = rows.filter(({ index }) => index.endsWith('_sort') && !names.includes(index));

      lacks([
        ...sortable
          .filter((one) => one !== 'id' && !sorted.includes(one))
          .map((one) => `No index of ${table} begins with \`${one}\`, which lists sort by: ${IN_MIGRATION}`),
        ...others.map(
          ({ index }) => `No list sorts by the index ${index}: name its attribute in @SortableBy(), or drop it`,
        ),
      ]);
    });

    it('has an index for `updated_since`, and two for deleted rows if it keeps them', async () => {
      const { deleteDateColumn } = database().entityMetadatas.find(({ tableName }) => tableName === table)!;
      const deletion = deleteDateColumn?.databaseName;
      const since = attributes.includes('updated_at') ? ['updated_at, id'] : [];
      const present = await indexesOf(table, deletion ? `${deletion} IS NULL` : 'true');
      const deleted = deletion ? await indexesOf(table, `${deletion} IS NOT NULL`) : [];
      const nameOf = (columns: string) => `${table}_deleted${columns === 'id' ? '' : '_since'}`;

      lacks([
        ...since
          .filter((columns) => !present.includes(columns))
          .map(
            (columns) => `No index of ${table} is (${columns}), as \`updated_since\` needs it: add it to @SortableBy()`,
          ),
        ...(deletion ? ['id', ...since] : [])
          .filter((columns) => !deleted.includes(columns))
          .map(
            (columns) =>
              `No index of ${table} has the deleted rows by (${columns}): write addIndex(database, '${nameOf(columns)}', 'ON ${table} (${columns}) WHERE ${deletion} IS NOT NULL')`,
          ),
      ]);
    });

    it('has no attribute that lists sort by and don’t show', () => {
      lacks(
        sortable
          .filter((one) => !attributes.includes(one))
          .map(
            (one) =>
              `${name} is sorted by \`${one}\` and doesn't show it: add it to the DTO, or remove it from @SortableBy()`,
          ),
      );
    });
  });

  /** The columns of each index of a table for the rows of a condition: those that have all rows do for the present ones. */
  async function indexesOf(table: string, condition: string): Promise<string[]> {
    const rows = await query<{ columns: string }>(
      `SELECT string_agg(attname, ', ' ORDER BY ordinality) AS columns
         FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam,
              unnest(indkey) WITH ORDINALITY AS key (number, ordinality), pg_attribute
        WHERE attrelid = indrelid AND attnum = number AND indrelid = $1::regclass AND amname = 'btree' AND indisvalid
              AND coalesce(pg_get_expr(indpred, indrelid), $3) = $2
        GROUP BY indexrelid`,
      [table, `(${condition})`, condition.endsWith('NOT NULL') ? '' : `(${condition})`],
    );
    return rows.map(({ columns }) => columns);
  }

  function constraintsOf(table: string): Promise<{ name: string; code: string }[]> {
    return query(
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

/** A default in SQL, such as `() => '0.5'` or `() => "'[]'"`, is a value too. */
function valueOf(given: unknown): unknown {
  if (typeof given !== 'function') return given;
  const text = (given as () => string)();
  try {
    return JSON.parse(text.replace(/^'(.*)'$/, '$1'));
  } catch {
    return text;
  }
}
