import {
  And,
  Any,
  ArrayContains,
  ArrayOverlap,
  Between,
  Equal,
  ILike,
  In,
  IsNull,
  JsonContains,
  LessThan,
  LessThanOrEqual,
  Like,
  MoreThan,
  MoreThanOrEqual,
  Not,
  Or,
  Raw,
} from 'typeorm';
import { Book, BookAuthor, Library, finding, qb, titlesOf } from './library';

/** Each as the documentation of TypeORM shows it, and what comes of it: of books A to E, of which E is burnt. */
export const TECHNIQUES: Record<string, [technique: (library: Library) => Promise<unknown>, expected: unknown]> = {
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
