import { randomUUID } from 'node:crypto';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryColumn,
  QueryFailedError,
  type SelectQueryBuilder,
} from 'typeorm';
import { insertRow, insertRows, paginate, ResourceEntity } from '../../src/platform';
import { CURSORS, LARGEST } from '../../src/platform/lists/list-query';
import { Searches } from '../../src/platform/lists/searches';
import { readSettings, times } from '../../src/platform/testing';
import { useScratchDatabase } from './scratch-database';

@Entity('found_tags')
class FoundTag extends ResourceEntity {
  @Column('text')
  text: string;
}

@Entity('found_things')
class FoundThing extends ResourceEntity {
  @Column('text')
  title: string;

  @Column({ type: 'integer', nullable: true })
  number: number | null;

  @ManyToMany(() => FoundTag)
  @JoinTable({ name: 'found_thing_tags' })
  tags: FoundTag[];

  @DeleteDateColumn({ name: 'gone_at' })
  goneAt: Date | null;
}

@Entity('found_defaults')
class FoundDefault {
  @PrimaryColumn('uuid')
  id: string = randomUUID();

  @Column({ type: 'text', default: 'of the database' })
  kind = 'of the class';
}

@Entity('found_parts')
class FoundPart {
  @PrimaryColumn('integer')
  place: number;

  @Column({ type: 'text', default: 'of the database' })
  kind = 'of the class';
}

@Entity('found_rows')
class FoundRow extends ResourceEntity {
  @Column({ type: 'text', unique: true })
  title: string;

  @Column({ type: 'text', default: 'of the database' })
  kind = 'of the class';
}

type Where = (builder: SelectQueryBuilder<FoundThing>) => void;

const THINGS = 60;
const SIZE = 4;

/** A search that finds its rows once has the answers of one that looks for them twice. */
describe('A search of a list with conditions of its own', () => {
  const scratch = useScratchDatabase([FoundTag, FoundThing]);

  beforeAll(async () => {
    const settings = readSettings({ NODE_ENV: 'test', DATABASE_URL: 'postgres://localhost/none' });
    new Searches(settings, { url: '' } as never, scratch.database);
    const tags = await scratch.repository(FoundTag).save(['x', 'y', 'z'].map((text) => ({ text })));
    const things = times(THINGS, (index) => ({
      title: index % 3 ? `Needle ${index % 7}` : `Other ${index}`,
      number: index % 5 ? index % 6 : null,
      tags: tags.slice(0, index % 4),
      goneAt: index % 11 === 1 ? new Date() : null,
    }));
    await scratch.repository(FoundThing).save(things);
  });
  afterEach(() => jest.restoreAllMocks());

  const query = { search: 'needle', size: SIZE, [LARGEST]: { whole: 200, reducedTo: () => 200 } as never };
  const list = (more: object, where: Where) =>
    paginate(scratch.repository(FoundThing), { ...query, ...more }, { searchable: ['title'], where });

  async function pagesOf(more: object, where: Where): Promise<unknown[]> {
    const seal = () => 'cursor';
    const asked = [0, 1, 5, 50].map((page) => ({ ...more, page }));
    const cursors = [false, true].map((total) => ({ ...more, total, [CURSORS]: { seal } }));
    const pages: unknown[] = [];
    for (const one of [...asked, ...cursors]) {
      const { data, pagination } = await list(one, where);
      pages.push([data.map(({ id }) => id), pagination]);
    }
    return pages;
  }

  const ofTags = (builder: SelectQueryBuilder<FoundThing>) => builder.leftJoin('resource.tags', 'tag');
  const conditions: [string, Where][] = [
    ['none', () => undefined],
    ['a join that repeats rows', (builder) => void ofTags(builder)],
    ['a join and its values', (builder) => void ofTags(builder).andWhere('tag.text IN (:...texts)', { texts: ['y'] })],
    ['groups', (builder) => void ofTags(builder).groupBy('resource.id').having('count(*) > 1')],
    ['distinct rows', (builder) => void ofTags(builder).distinct(true)],
    ['an order by a value of its own', (builder) => void builder.addSelect('1', 'score').orderBy('score')],
    ['a part of its own', (builder) => void builder.offset(5).limit(3)],
    ['a page of its own', (builder) => void builder.skip(5).take(3)],
    ['deleted rows', (builder) => void builder.withDeleted().andWhere('resource.goneAt IS NOT NULL')],
    [
      'a part WITH and its values',
      (builder) => {
        const { manager } = scratch.database;
        const some = manager.createQueryBuilder(FoundTag, 'some').select('some.id').where('some.text = :x', { x: 'x' });
        builder.addCommonTableExpression(some, 'some_tags').andWhere('EXISTS (SELECT FROM some_tags)');
      },
    ],
  ];

  // PostgreSQL sorts distinct rows by nothing that isn't selected.
  const sorted = ['id', 'number'].flatMap((sort) => conditions.map(([name, where]) => [name, sort, where] as const));
  it.each(sorted.filter(([name, sort]) => name !== 'distinct rows' || sort === 'id'))(
    'finds what two statements find: %s, by %s',
    async (name, sort, where) => {
      const once = await pagesOf({ sort }, where);
      jest.spyOn(Searches.prototype, 'isHelped').mockReturnValue(false);
      const twice = await pagesOf({ sort }, where);

      expect(once).toEqual(twice);
      if (name === 'none') expect((once[0] as [number[]])[0]).toHaveLength(SIZE);
    },
  );

  const own: Where = (builder) =>
    void builder.andWhere('resource.number <> :id AND resource.title <> :value', { id: 4, value: 'Needle 3' });
  const walks = ['id', 'number', 'title'].flatMap((sort) => ['asc', 'desc'].map((order) => ({ sort, order })));
  it.each(walks)('keeps a condition whose values have names of a cursor: by $sort $order', async ({ sort, order }) => {
    const things = await scratch.repository(FoundThing).find();
    const wanted = things.filter(({ number, title }) => number !== null && number !== 4 && title !== 'Needle 3');
    for (const search of ['needle', undefined]) {
      const found: number[] = [];
      let next: string | null | undefined;
      do {
        const position: unknown = next ? JSON.parse(next) : undefined;
        const cursors = { position, seal: (one: object) => JSON.stringify(one) };
        const { data, pagination } = await list({ search, sort, order, [CURSORS]: cursors }, own);
        found.push(...data.map(({ id }) => id));
        ({ next } = pagination as unknown as { next: string | null });
      } while (next && found.length <= THINGS);
      const titled = wanted.filter(({ title }) => search === undefined || title.startsWith('Needle'));
      expect(found.sort((one, other) => one - other)).toEqual(titled.map(({ id }) => id));
    }
  });

  it.each(['pattern', 'cursor_id'])('refuses a condition whose value has a name of the list: %s', async (name) => {
    const where: Where = (builder) => void builder.andWhere(`resource.title <> :${name}`, { [name]: 'x' });
    await expect(list({}, where)).rejects.toThrow(`The list has a parameter :${name} of its own`);
  });
});

describe('Rows that are inserted together', () => {
  const scratch = useScratchDatabase([FoundDefault, FoundPart, FoundRow]);
  const manager = () => scratch.database.manager;

  it('have the values that their class gives them', async () => {
    const titled = await insertRows(manager(), FoundRow, [{ title: 'a' }, { title: 'b', kind: 'given' }]);
    const alone = await insertRow(manager(), FoundRow, { title: 'c' });
    const ids = await insertRows(manager(), FoundDefault, [{}, {}]);
    const parts = await insertRows(manager(), FoundPart, [{ place: 1 }, { place: 2 }]);

    expect([...titled, alone].map(({ kind }) => kind)).toEqual(['of the class', 'given', 'of the class']);
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2);
    expect([...ids, ...parts].map(({ kind }) => kind)).toEqual(times(4, () => 'of the class'));
  });

  it('are refused without the transaction of the caller', async () => {
    await insertRow(manager(), FoundRow, { title: 'taken' });
    const made = await manager().transaction(async (inside) => {
      const refused = insertRows(inside, FoundRow, [{ title: 'free' }, { title: 'taken' }]);
      await expect(refused).rejects.toThrow(QueryFailedError);
      return insertRows(inside, FoundRow, [{ title: 'free' }, { title: 'other' }]);
    });
    expect(made.map(({ title }) => title)).toEqual(['free', 'other']);
  });
});
