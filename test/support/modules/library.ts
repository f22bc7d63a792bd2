import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
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
import { ResourceEntity } from '../../../src/platform';

@Entity('book_authors')
export class BookAuthor extends ResourceEntity {
  @Column()
  name: string;

  @OneToMany(() => Book, (book) => book.author)
  books: Relation<Book>[];

  @VirtualColumn({ query: (alias) => `SELECT count(*)::int FROM books WHERE author_id = ${alias}.id` })
  book_count: number;
}

@Entity('books')
export class Book extends ResourceEntity {
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
export class PathGenre extends ResourceEntity {
  @Column()
  name: string;

  @TreeChildren()
  children: PathGenre[];

  @TreeParent()
  parent: PathGenre | null;
}

@Entity('genres_by_closure')
@Tree('closure-table')
export class ClosureGenre extends ResourceEntity {
  @Column()
  name: string;

  @TreeChildren()
  children: ClosureGenre[];

  @TreeParent()
  parent: ClosureGenre | null;
}

@Entity('genres_by_set')
@Tree('nested-set')
export class SetGenre extends ResourceEntity {
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
export class Library {
  constructor(
    @InjectRepository(Book) readonly books: Repository<Book>,
    @InjectRepository(BookAuthor) readonly authors: Repository<BookAuthor>,
    @InjectRepository(BookTitle) readonly titles: Repository<BookTitle>,
    readonly database: DataSource,
  ) {}
}

export const titlesOf = (books: Book[]) => books.map(({ title }) => title).sort();
type Where = NonNullable<Parameters<Repository<Book>['findBy']>[0]>;
export const finding = (where: Where) => async (library: Library) => titlesOf(await library.books.findBy(where));
export const qb = ({ books }: Library) => books.createQueryBuilder('book');

export const entities = [BookAuthor, Book, PathGenre, ClosureGenre, SetGenre, BookTitle];
