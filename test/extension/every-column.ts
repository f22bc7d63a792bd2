import { BeforeInsert, Column, Entity, PrimaryColumn, type Repository } from 'typeorm';
import { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import {
  insertRow,
  insertRows,
  type ListQuery,
  paginate,
  readRow,
  ResourceEntity,
  updateRow,
} from '../../src/platform';
import { CURSORS } from '../../src/platform/lists/list-query';
import { LISTS, type Sample, SAMPLES } from './column-samples';
import { useScratchDatabase } from './scratch-database';

/** Types of PostgreSQL's extensions, which this service's databases don't have. */
const OF_EXTENSIONS = ['citext', 'hstore', 'geometry', 'geography', 'cube', 'ltree', 'vector', 'halfvec'];

interface Scratch extends ResourceEntity {
  value: unknown;
}

interface Case extends Sample {
  name: string;
  entity: new () => Scratch;
  table: string;
}

function caseOf(sample: Sample, index: number): Case {
  const { type, options } = sample;
  const table = `scratch_${index}`;
  class ScratchEntity extends ResourceEntity {
    value: unknown;
  }
  Column({ type, ...options, nullable: true })(ScratchEntity.prototype, 'value');
  Entity(table)(ScratchEntity);
  const collation = options?.collation ? ` COLLATE ${options.collation}` : '';
  const precision = type === 'timestamptz' && options?.precision ? `(${options.precision})` : '';
  return {
    ...sample,
    name: `${String(type)}${precision}${options?.array ? '[]' : ''}${collation}`,
    entity: ScratchEntity,
    table,
  };
}

const cases = [...SAMPLES, ...LISTS].map(caseOf);

interface Part {
  position: number;
  value: unknown;
}

/** The same columns of rows without an id of their own, which TypeORM inserts because of a listener. */
const parts = [...SAMPLES, ...LISTS].map(({ type, options }, index): { name: string; entity: new () => Part } => {
  class PartEntity {
    position: number;
    value: unknown;
    listen(): void {}
  }
  PrimaryColumn({ type: 'integer' })(PartEntity.prototype, 'position');
  Column({ type, ...options, nullable: true })(PartEntity.prototype, 'value');
  BeforeInsert()(PartEntity.prototype, 'listen');
  Entity(`part_${index}`)(PartEntity);
  return { name: cases[index].name, entity: PartEntity };
});
const sortable = cases.filter(({ unsortable }) => !unsortable);

/** To be called by a file for each time zone. */
export function itReadsAndWritesEveryColumn(timeZone: string, hoursInWinter: number): void {
  describe(`In ${timeZone}, a column`, () => {
    const scratch = useScratchDatabase([...cases, ...parts].map(({ entity }) => entity));
    const manager = () => scratch.database.manager;

    it('is looked at by a process in that time zone', () => {
      expect(new Date('2026-01-15T00:00:00Z').getTimezoneOffset() / 60 + hoursInWinter).toBe(0);
    });

    it('has a sample of every type that TypeORM knows', () => {
      const known = new PostgresDriver().supportedDataTypes.filter((type) => !OF_EXTENSIONS.includes(String(type)));
      expect(known.filter((type) => !SAMPLES.some((sample) => sample.type === type))).toEqual([]);
      expect(known.length).toBeGreaterThan(60);
    });

    it.each(cases)('of type $name is stored by the helpers as by a repository', async (each) => {
      const repository = scratch.repository(each.entity);
      for (const [index, value] of [...each.values, null].entries()) {
        const mine = await insertRow(manager(), each.entity, { value });
        const theirs = await repository.save(repository.create({ value }));
        const changed = await updateRow(manager(), each.entity, (await insertRow(manager(), each.entity, {})).id, {
          value,
        });
        const expected = await scratch.stored(each.table, 'value', theirs.id);

        expect([value, await scratch.stored(each.table, 'value', mine.id)]).toEqual([value, expected]);
        expect([value, await scratch.stored(each.table, 'value', changed.id)]).toEqual([value, expected]);
        if (each.stored && value !== null) expect(expected?.replaceAll(/(?<=[:,]) /g, '')).toBe(each.stored[index]);
      }
    });

    it.each(cases)('of type $name is stored in rows that are inserted together as by a repository', async (each) => {
      const repository = scratch.repository(each.entity);
      const rows = [...each.values, null].map((value) => ({ value }));
      const made = [
        ...(await insertRows(manager(), each.entity, rows)),
        ...(await manager().transaction((inside) => insertRows(inside, each.entity, rows))),
      ];
      for (const [index, { value }] of [...rows, ...rows].entries()) {
        const { id } = await repository.save(repository.create({ value }));
        const [mine, theirs] = [made[index], await repository.findOneByOrFail({ id })];

        expect([value, mine.value]).toEqual([value, theirs.value]);
        expect([value, await scratch.stored(each.table, 'value', mine.id)]).toEqual([
          value,
          await scratch.stored(each.table, 'value', id),
        ]);
      }
    });

    it.each(parts)(
      'of type $name is returned as it is read, in rows without an id that TypeORM inserts',
      async (each) => {
        const { values } = cases.find(({ name }) => name === each.name)!;
        const rows = [...values, null].map((value, position) => ({ position, value }));
        const made = await insertRows(manager(), each.entity, rows.toReversed());
        const stored = await scratch.repository(each.entity).find({ order: { position: 'DESC' } });
        expect(made.map(({ position }) => position)).toEqual(rows.map(({ position }) => position).reverse());
        expect(made).toEqual(stored);
      },
    );

    it.each(cases)('of type $name is read by the helpers as by a repository', async (each) => {
      const repository = scratch.repository(each.entity);
      for (const [index, value] of [...each.values, null].entries()) {
        const written = await insertRow(manager(), each.entity, { value });
        const { id } = written;
        const theirs = await repository.findOneByOrFail({ id });
        const readings = [
          written,
          await updateRow(manager(), each.entity, id, { value }),
          await readRow(manager(), each.entity, id),
          await manager().transaction((inside) => readRow(inside, each.entity, id)),
          (await pageOf(repository, { sort: 'id', order: 'desc', size: 1 })).data[0],
          (await pageOf(repository, { sort: 'id', order: 'desc', size: 1, fields: ['value'] })).data[0],
          (await pageOf(repository, { sort: 'id', order: 'desc', size: 1 }, 'true')).data[0],
        ];
        for (const reading of readings) {
          expect(reading).toBeInstanceOf(each.entity);
          expect([value, reading.value]).toEqual([value, theirs.value]);
        }
        expect(theirs.value).toEqual(value === null ? null : (each.read ?? each.values)[index]);
      }
    });

    it.each(sortable)('of type $name sorts a list whose cursors lead past each item once', async (each) => {
      const repository = scratch.repository(each.entity);
      await repository.createQueryBuilder().delete().execute();
      for (const value of [...each.values, ...each.values, null, null])
        await repository.save(repository.create({ value }));
      await expectWalks(repository);
    });

    it.each(['timestamptz', 'timestamp', 'timestamptz[]'])(
      'of type %s sorts moments that only microseconds tell apart',
      async (name) => {
        const each = cases.find((one) => one.name === name)!;
        const repository = scratch.repository(each.entity);
        await repository.createQueryBuilder().delete().execute();
        const moment = `timestamp '2026-10-25 02:30:00' + number * interval '1 microsecond'`;
        const value = name.endsWith('[]') ? `ARRAY[${moment}]` : moment;
        await scratch.database.query(
          `INSERT INTO ${each.table} (value) SELECT ${value} FROM generate_series(1, 7) AS number`,
        );
        await expectWalks(repository);
      },
    );

    it.each([
      ['timestamptz', ['-infinity', 'infinity', '2026-01-31', '0044-03-15 BC', '12026-01-31']],
      ['timestamp', ['-infinity', 'infinity', '2026-01-31', '0044-03-15 BC']],
      ['timestamptz(3)', ['-infinity', 'infinity', '2026-01-31', '0044-03-15 BC', '0001-01-01 BC', '12026-01-31']],
      ['date', ['-infinity', 'infinity', '2026-01-31', '0044-03-15 BC']],
      ['numeric', ['-0', '0', '1e15', '-99999999999999999999.0001']],
      ['real', ['NaN', 'Infinity', '-Infinity', '-0', '0', '1e-45']],
      ['float8', ['NaN', 'Infinity', '-Infinity', '-0', '0', '5e-324']],
    ])('of type %s sorts values that JavaScript or JSON has none for', async (name, values) => {
      const each = cases.find((one) => one.name === name)!;
      const repository = scratch.repository(each.entity);
      await repository.createQueryBuilder().delete().execute();
      for (const value of [...values, ...values, null])
        await scratch.database.query(`INSERT INTO ${each.table} (value) VALUES ($1)`, [value]);
      await expectWalks(repository);
    });

    /** All pages, in both directions, forwards and back. */
    async function expectWalks(repository: Repository<Scratch>): Promise<void> {
      for (const order of ['asc', 'desc']) {
        const builder = repository.createQueryBuilder('row').orderBy('row.value', order === 'asc' ? 'ASC' : 'DESC');
        const all = await builder.addOrderBy('row.id', order === 'asc' ? 'ASC' : 'DESC').getMany();
        const ids = all.map(({ id }) => id);
        const there = await walk(repository, order, 'next');
        expect([order, there.ids]).toEqual([order, ids]);
        const back = await walk(repository, order, 'previous', there.last);
        expect([order, back.ids.reverse()]).toEqual([order, ids.slice(0, -1)]);
      }
    }
  });
}

const pageOf = (repository: Repository<Scratch>, query: ListQuery, where?: string) =>
  paginate(repository, query, where ? { where: (builder) => builder.andWhere(where) } : {});

const MAX_PAGES = 100;

/** The ids of pages of one item, and the cursor that leads back from the last of them. */
async function walk(repository: Repository<Scratch>, order: string, direction: 'next' | 'previous', from?: string) {
  const ids: number[] = [];
  let cursor = from;
  let last: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    // What a cursor holds is JSON.
    const cursors = { position: cursor && JSON.parse(cursor), seal: (position: object) => JSON.stringify(position) };
    const page = await pageOf(repository, { sort: 'value', order, size: 1, [CURSORS]: cursors });
    ids.push(...page.data.map(({ id }) => id));
    const { next, previous } = page.pagination as { next: string | null; previous: string | null };
    last = previous ?? undefined;
    cursor = (direction === 'next' ? next : previous) ?? undefined;
    if (!cursor) return { ids, last };
  }
  throw new Error(`The cursors lead on after ${ids.join()}`);
}
