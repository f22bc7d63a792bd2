import { Controller, Get, Header, Injectable, Module, Param, StreamableFile } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { pipeline, Transform } from 'node:stream';
import {
  And,
  Any,
  ArrayContains,
  ArrayOverlap,
  Between,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  Equal,
  ILike,
  In,
  IsNull,
  JoinColumn,
  JsonContains,
  LessThan,
  LessThanOrEqual,
  Like,
  ManyToOne,
  MoreThan,
  MoreThanOrEqual,
  Not,
  OneToMany,
  Or,
  Raw,
  RelationId,
  type Relation,
  Repository,
  Tree,
  TreeChildren,
  TreeParent,
  ViewColumn,
  ViewEntity,
  VirtualColumn,
} from 'typeorm';
import { Produces, Public, ResourceEntity, seconds, TakesUpTo } from '../../src/platform';
import { times, useTestApi } from '../support/test-api';

@Entity('book_authors')
class BookAuthor extends ResourceEntity {
  @Column()
  name: string;

  @OneToMany(() => Book, (book) => book.author)
  books: Relation<Book>[];

  @VirtualColumn({ query: (alias) => `SELECT count(*)::int FROM books WHERE author_id = ${alias}.id` })
  book_count: number;
}

@Entity('books')
class Book extends ResourceEntity {
  @Column()
  title: string;

  @Column()
  pages: number;

  @Column({ type: 'date', nullable: true })
  printed_on: string | null;

  @Column('text', { array: true })
  tags: string[];

  @Column('jsonb')
  details: { cover: string };

  @Column('bigint')
  author_id: number;

  @ManyToOne(() => BookAuthor, (author) => author.books)
  @JoinColumn({ name: 'author_id' })
  author: Relation<BookAuthor>;

  @RelationId((book: Book) => book.author)
  writer_id: number;

  @DeleteDateColumn({ name: 'burnt_at', type: 'timestamptz' })
  burntAt: Date | null;
}

@Entity('genres_by_path')
@Tree('materialized-path')
class PathGenre extends ResourceEntity {
  @Column()
  name: string;

  @TreeChildren()
  children: PathGenre[];

  @TreeParent()
  parent: PathGenre | null;
}

@Entity('genres_by_closure')
@Tree('closure-table')
class ClosureGenre extends ResourceEntity {
  @Column()
  name: string;

  @TreeChildren()
  children: ClosureGenre[];

  @TreeParent()
  parent: ClosureGenre | null;
}

@Entity('genres_by_set')
@Tree('nested-set')
class SetGenre extends ResourceEntity {
  @Column()
  name: string;

  @TreeChildren()
  children: SetGenre[];

  @TreeParent()
  parent: SetGenre | null;
}

@ViewEntity('book_titles', {
  expression: (database: DataSource) =>
    database
      .createQueryBuilder()
      .select('book.id', 'id')
      .addSelect('upper(book.title)', 'title')
      .addSelect('author.name', 'author')
      .from(Book, 'book')
      .leftJoin(BookAuthor, 'author', 'author.id = book.author_id'),
})
class BookTitle {
  @ViewColumn()
  id: number;

  @ViewColumn()
  title: string;

  @ViewColumn()
  author: string;
}

@Injectable()
class Library {
  constructor(
    @InjectRepository(Book) readonly books: Repository<Book>,
    @InjectRepository(BookAuthor) readonly authors: Repository<BookAuthor>,
    @InjectRepository(BookTitle) readonly titles: Repository<BookTitle>,
    readonly database: DataSource,
  ) {}
}

const titlesOf = (books: Book[]) => books.map(({ title }) => title).sort();
type Where = NonNullable<Parameters<Repository<Book>['findBy']>[0]>;
const finding = (where: Where) => async (library: Library) => titlesOf(await library.books.findBy(where));
const qb = ({ books }: Library) => books.createQueryBuilder('book');

/** Each as the documentation of TypeORM shows it, and what comes of it: of books A to E, of which E is burnt. */
const TECHNIQUES: Record<string, [technique: (library: Library) => Promise<unknown>, expected: unknown]> = {
  Not: [finding({ title: Not('A') }), ['B', 'C', 'D']],
  LessThan: [finding({ pages: LessThan(20) }), ['A']],
  LessThanOrEqual: [finding({ pages: LessThanOrEqual(20) }), ['A', 'B']],
  MoreThan: [finding({ pages: MoreThan(30) }), ['D']],
  MoreThanOrEqual: [finding({ pages: MoreThanOrEqual(30) }), ['C', 'D']],
  Equal: [finding({ title: Equal('A') }), ['A']],
  Like: [finding({ title: Like('%B%') }), ['B']],
  ILike: [finding({ title: ILike('%b%') }), ['B']],
  Between: [finding({ pages: Between(15, 35) }), ['B', 'C']],
  'Between days': [finding({ printed_on: Between('2026-01-02', '2026-01-03') }), ['B', 'C']],
  In: [finding({ title: In(['A', 'D', 'E']) }), ['A', 'D']],
  Any: [finding({ title: Any(['A', 'D']) }), ['A', 'D']],
  IsNull: [finding({ printed_on: IsNull() }), ['D']],
  ArrayContains: [finding({ tags: ArrayContains(['even']) }), ['A', 'C']],
  ArrayOverlap: [finding({ tags: ArrayOverlap(['odd', 'x']) }), ['B', 'D']],
  JsonContains: [finding({ details: JsonContains({ cover: 'soft' }) }), ['A', 'C']],
  Raw: [finding({ pages: Raw((alias) => `${alias} > :least`, { least: 25 }) }), ['C', 'D']],
  'And, Or': [finding({ pages: And(MoreThan(10), LessThan(40)), title: Or(Equal('B'), Equal('D')) }), ['B']],
  'a list of conditions': [finding([{ title: 'A' }, { pages: 40 }]), ['A', 'D']],
  'a condition on a relation': [finding({ author: { name: 'Ada' } }), ['A', 'C']],
  'select, order, skip and take': [
    ({ books }) => books.find({ select: { title: true }, order: { pages: 'DESC' }, skip: 1, take: 2 }),
    [{ title: 'C' }, { title: 'B' }],
  ],
  'order with nulls first': [
    async ({ books }) => (await books.find({ order: { printed_on: { direction: 'ASC', nulls: 'FIRST' } } }))[0].title,
    'D',
  ],
  relations: [
    async ({ books }) =>
      (await books.findOneOrFail({ where: { title: 'A' }, relations: { author: true } })).author.name,
    'Ada',
  ],
  'relations by a query of their own': [
    async ({ authors }) => {
      const found = await authors.find({ relations: { books: true }, relationLoadStrategy: 'query', order: { id: 1 } });
      return found.map(({ name, books }) => [name, titlesOf(books)]);
    },
    [
      ['Ada', ['A', 'C']],
      ['Bob', ['B', 'D']],
    ],
  ],
  loadRelationIds: [
    async ({ authors }) => {
      const [{ books }] = await authors.find({ where: { name: 'Ada' }, loadRelationIds: true });
      return books.length;
    },
    2,
  ],
  'findAndCount with a relation': [
    async ({ books }) => {
      const [found, count] = await books.findAndCount({ relations: { author: true }, take: 1, order: { id: 'ASC' } });
      return [titlesOf(found), count];
    },
    [['A'], 4],
  ],
  withDeleted: [async ({ books }) => titlesOf(await books.find({ withDeleted: true })), ['A', 'B', 'C', 'D', 'E']],
  'sums and their kin': [
    async ({ books }) => [
      await books.count(),
      await books.countBy({ tags: ArrayContains(['even']) }),
      await books.existsBy({ title: 'E' }),
      await books.sum('pages'),
      await books.average('pages'),
      await books.minimum('pages'),
      await books.maximum('pages'),
    ],
    [4, 2, false, 100, 25, 10, 40],
  ],
  'query and preload': [
    async ({ books }) => {
      const [{ title }] = await books.query('SELECT title FROM books WHERE pages = $1', [10]);
      const { id } = await books.findOneByOrFail({ title });
      const { pages, tags } = (await books.preload({ id, pages: 11 }))!;
      return [title, pages, tags];
    },
    ['A', 11, ['even']],
  ],
  '@VirtualColumn': [
    async ({ authors }) =>
      (await authors.find({ order: { name: 'ASC' } })).map(({ name, book_count }) => [name, book_count]),
    [
      ['Ada', 3],
      ['Bob', 2],
    ],
  ],
  '@RelationId': [
    async ({ books }) => (await books.find()).every(({ writer_id, author_id }) => writer_id === author_id),
    true,
  ],
  '@ViewEntity': [async ({ titles }) => (await titles.findOneByOrFail({ title: 'A' })).author, 'Ada'],
  'joins of a query builder': [
    async (library) => {
      const found = await library.authors
        .createQueryBuilder('author')
        .innerJoinAndSelect('author.books', 'book', 'book.pages > :pages', { pages: 15 })
        .orderBy({ 'author.name': 'ASC', 'book.title': 'DESC' })
        .getMany();
      return found.map(({ name, books }) => [name, books.map(({ title }) => title)]);
    },
    [
      ['Ada', ['C']],
      ['Bob', ['D', 'B']],
    ],
  ],
  leftJoinAndMapOne: [
    async (library) => {
      const query = qb(library).leftJoinAndMapOne('book.writer', BookAuthor, 'writer', 'writer.id = book.author_id');
      const book = await query.where({ title: 'B' }).getOneOrFail();
      return (book as Book & { writer: BookAuthor }).writer.name;
    },
    'Bob',
  ],
  'getRawMany with a group': [
    (library) =>
      qb(library)
        .leftJoin('book.author', 'author')
        .select('author.name', 'name')
        .addSelect('count(*)', 'books')
        .addSelect('sum(book.pages)', 'pages')
        .groupBy('author.name')
        .having('count(*) > :least', { least: 1 })
        .orderBy('author.name')
        .getRawMany(),
    [
      { name: 'Ada', books: 2, pages: 40 },
      { name: 'Bob', books: 2, pages: 60 },
    ],
  ],
  getRawAndEntities: [
    async (library) => {
      const { raw, entities } = await qb(library)
        .addSelect('book.pages * 2', 'twice')
        .where('book.title = :title', { title: 'A' })
        .getRawAndEntities();
      return [raw[0].twice, entities[0].title];
    },
    [20, 'A'],
  ],
  'a subquery': [
    async (library) => {
      const query = qb(library);
      const most = query.subQuery().select('max(other.pages)').from(Book, 'other').getQuery();
      return titlesOf(await query.where(`book.pages = ${most}`).getMany());
    },
    // A condition of one's own on a subquery doesn't leave deleted rows out; that of an entity does.
    ['D'],
  ],
  'a common table expression': [
    ({ database }) =>
      database
        .createQueryBuilder()
        .addCommonTableExpression('SELECT title FROM books WHERE pages > 30 AND burnt_at IS NULL', 'long_ones')
        .select('title')
        .from('long_ones', 'long_ones')
        .getRawMany(),
    [{ title: 'D' }],
  ],
  distinctOn: [
    async (library) =>
      titlesOf(
        await qb(library).distinctOn(['book.author_id']).orderBy('book.author_id').addOrderBy('book.pages').getMany(),
      ),
    ['A', 'B'],
  ],
  'a lock within a transaction': [
    ({ database }) =>
      database.transaction(async (manager) => {
        const lock = { mode: 'pessimistic_write' } as const;
        return titlesOf(await manager.find(Book, { where: { title: 'A' }, lock }));
      }),
    ['A'],
  ],
  'exists of a query builder': [(library) => qb(library).where({ title: 'A' }).getExists(), true],
};

@Controller('library')
@Public()
class LibraryController {
  constructor(private readonly library: Library) {}

  @Get('by/:technique')
  async by(@Param('technique') technique: string): Promise<object> {
    return { result: await TECHNIQUES[technique][0](this.library) };
  }

  @Get('trees/:kind')
  async trees(@Param('kind') kind: string): Promise<object> {
    const entity = { path: PathGenre, closure: ClosureGenre, set: SetGenre }[kind]!;
    const trees = this.library.database.getTreeRepository<PathGenre>(entity);
    const root = await trees.findOneByOrFail({ name: 'fiction' });
    const leaf = await trees.findOneByOrFail({ name: 'space opera' });
    const names = (genres: PathGenre[]) => genres.map(({ name }) => name).sort();
    return {
      roots: names(await trees.findRoots()),
      tree: (await trees.findDescendantsTree(root)).children.map(({ name, children }) => [name, names(children)]),
      descendants: await trees.countDescendants(root),
      ancestors: names(await trees.findAncestors(leaf)),
    };
  }

  @Get('export')
  @Produces('text/csv')
  @Header('Content-Type', 'text/csv')
  @TakesUpTo(seconds(20))
  export(): Promise<StreamableFile> {
    return this.rows();
  }

  @Get('short-export')
  @Produces('text/csv')
  @Header('Content-Type', 'text/csv')
  shortExport(): Promise<StreamableFile> {
    return this.rows();
  }

  /** By pipeline(), which hands an error on: pipe() alone leaves it to whoever listens to the rows, or to the process. */
  private async rows(): Promise<StreamableFile> {
    const query = qb(this.library).select('book.title', 'title').addSelect('pg_sleep(1)');
    const rows = await query.orderBy('book.id').stream();
    const lines = new Transform({
      writableObjectMode: true,
      transform: ({ title }: { title: string }, _encoding, done) => done(null, `${title}\n`),
    });
    return new StreamableFile(pipeline(rows, lines, () => undefined));
  }
}

const entities = [BookAuthor, Book, PathGenre, ClosureGenre, SetGenre, BookTitle];
@Module({ imports: [TypeOrmModule.forFeature(entities)], controllers: [LibraryController], providers: [Library] })
class LibraryModule {}

/** Milliseconds; less than the stream of rows takes. */
const LIMIT = 3_000;

describe('TypeORM, as its documentation shows it, reads in a handler', () => {
  const api = useTestApi({ imports: [LibraryModule], settings: { REQUEST_TIMEOUT: String(LIMIT) } });

  beforeAll(async () => {
    const database = api.app.nest.get(DataSource);
    await database.synchronize();
    const authors = await database.manager.save(BookAuthor, [{ name: 'Ada' }, { name: 'Bob' }]);
    const books = times(5, (index) => ({
      title: 'ABCDE'[index],
      pages: 10 * (index + 1),
      printed_on: index === 3 ? null : `2026-01-0${index + 1}`,
      tags: [index % 2 === 0 ? 'even' : 'odd'],
      details: { cover: index % 2 === 0 ? 'soft' : 'hard' },
      author_id: authors[index % 2].id,
      burntAt: index === 4 ? new Date() : null,
    }));
    await database.manager.save(Book, books);
    for (const entity of [PathGenre, ClosureGenre, SetGenre]) {
      const trees = database.getTreeRepository<PathGenre>(entity);
      const fiction = await trees.save(trees.create({ name: 'fiction' }));
      const science = await trees.save(trees.create({ name: 'science fiction', parent: fiction }));
      await trees.save(trees.create({ name: 'crime', parent: fiction }));
      await trees.save(trees.create({ name: 'space opera', parent: science }));
    }
  });

  it.each(Object.keys(TECHNIQUES))('%s', async (technique) => {
    const answers = await Promise.all(times(3, () => api.get(`/library/by/${encodeURIComponent(technique)}`)));
    for (const { status, body } of answers) {
      expect([technique, status]).toEqual([technique, 200]);
      expect(body.data.result).toEqual(TECHNIQUES[technique][1]);
    }
  });

  it.each(['path', 'closure', 'set'])('trees of the kind %s', async (kind) => {
    const { data } = (await api.get(`/library/trees/${kind}`)).body;
    expect(data).toMatchObject({
      roots: ['fiction'],
      descendants: 4,
      ancestors: ['fiction', 'science fiction', 'space opera'],
    });
    expect(data.tree).toEqual(
      expect.arrayContaining([
        ['science fiction', ['space opera']],
        ['crime', []],
      ]),
    );
  });

  it('a stream of rows, for as long as its route may take', async () => {
    const started = performance.now();
    const { status, text, headers } = await api.get('/library/export', { Accept: 'text/csv' });
    expect([status, text]).toEqual([200, 'A\nB\nC\nD\n']);
    expect(headers.get('content-type')).toContain('text/csv');
    expect(performance.now() - started).toBeGreaterThan(LIMIT);
  });

  it('a stream that takes longer than its route may ends without having told that it is complete', async () => {
    const ended = await api.get('/library/short-export', { Accept: 'text/csv' }).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
    expect(['terminated', 503]).toContain(ended);
    expect((await api.get('/library/by/Not')).status).toBe(200);
  });
});
