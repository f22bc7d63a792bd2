import {
  AfterLoad,
  BeforeInsert,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  VirtualColumn,
} from 'typeorm';
import { insertRows, ResourceEntity } from '../../src/platform';
import { times } from '../../src/platform/testing';
import { useScratchDatabase } from './scratch-database';

@Entity('shelves')
class Shelf extends ResourceEntity {
  @Column()
  name: string;

  @Column({ type: 'numeric', precision: 8, scale: 2, default: 7.5 })
  height: number;

  @BeforeInsert()
  trim(): void {
    this.name = this.name.trim();
  }
}

class Size {
  @Column({ type: 'numeric', precision: 8, scale: 2, nullable: true })
  width: number | null;

  @Column({ default: 'cm' })
  unit: string;
}

@Entity('books')
class Book {
  @PrimaryColumn()
  shelf_id: number;

  @PrimaryColumn()
  position: number;

  @ManyToOne(() => Shelf, { eager: true })
  @JoinColumn({ name: 'shelf_id' })
  shelf: Shelf;

  @Column({ type: 'numeric', precision: 8, scale: 2 })
  price: number;

  @Column({ type: 'integer', default: 3 })
  copies: number;

  @Column({ default: 'told to nobody', select: false })
  secret: string;

  @Column('simple-json', { default: '{"pages":1}' })
  about: object;

  @Column({ type: 'text', transformer: { to: (text?: string) => text?.toUpperCase(), from: (text: string) => text } })
  title: string;

  @Column(() => Size)
  size: Size;

  @VirtualColumn({ query: (alias) => `SELECT length(${alias}.title)` })
  letters: number;

  @CreateDateColumn({ type: 'timestamptz' })
  created_at: Date;

  @DeleteDateColumn({ type: 'timestamptz' })
  deleted_at: Date | null;

  /** No column. */
  spine: string;

  @AfterLoad()
  setSpine(): void {
    this.spine = `${this.title} ${this.price}`;
  }
}

/** Keys that JavaScript can't tell apart or changes. */
@Entity('signs')
class Sign {
  @PrimaryColumn({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  at: Date;

  @PrimaryColumn({ type: 'numeric', precision: 8, scale: 2 })
  mark: number;

  @PrimaryColumn()
  one: string;

  @PrimaryColumn({ type: 'character', length: 6 })
  other: string;

  @Column({ type: 'integer', default: 1 })
  number: number;

  @BeforeInsert()
  listen(): void {}
}

/** An id that is one only together with another column. */
@Entity('leaves')
class Leaf {
  @PrimaryColumn()
  id: number;

  @PrimaryColumn()
  branch: number;

  @Column({ type: 'numeric', precision: 8, scale: 2 })
  width: number;

  @BeforeInsert()
  listen(): void {}
}

const told: unknown[] = [];

@EventSubscriber()
class BooksSubscriber implements EntitySubscriberInterface<Book> {
  listenTo() {
    return Book;
  }

  afterInsert({ entity }: InsertEvent<Book>): void {
    told.push([entity.position, entity.copies]);
  }
}

describe('Rows that TypeORM inserts by insertRows()', () => {
  const scratch = useScratchDatabase([Shelf, Book, Sign, Leaf], [BooksSubscriber]);
  const manager = () => scratch.database.manager;
  let shelf_id: number;

  beforeAll(async () => {
    ({ id: shelf_id } = await scratch.repository(Shelf).save({ name: 'Top' }));
    // What triggers change is a part of what is stored.
    await scratch.database.query(
      `CREATE FUNCTION add_dot() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN UPDATE books SET title = title || '.' WHERE position = NEW.position; RETURN NULL; END $$`,
    );
    await scratch.database.query('CREATE TRIGGER dots AFTER INSERT ON books FOR EACH ROW EXECUTE FUNCTION add_dot()');
  });
  beforeEach(() => scratch.database.query('DELETE FROM books'));

  const book = (position: number): Partial<Book> => ({
    ...{ shelf_id, position, title: `Book ${position}`, price: 1.005 },
    size: Object.assign(new Size(), { width: 2.345 }),
  });

  it('are returned as they are stored: with an id of their own', async () => {
    const made = await insertRows(manager(), Shelf, [{ name: ' A ', height: 1.005 }, { name: 'B' }]);
    expect(made).toMatchObject([{ ...{ name: 'A', height: 1.01 } }, { name: 'B', height: 7.5, version: 1 }]);
    expect(
      await scratch.repository(Shelf).find({ where: made.map(({ id }) => ({ id })), order: { id: 'ASC' } }),
    ).toEqual(made);
  });

  it.each([1, 2, 7])('are returned as they are stored: without an id, %i', async (count) => {
    told.splice(0);
    const made = await insertRows(manager(), Book, times(count, book).reverse());

    expect(await scratch.repository(Book).find({ order: { position: 'DESC' } })).toEqual(made);
    expect(made.at(-1)).toMatchObject({
      ...{ price: 1.01, copies: 3, about: { pages: 1 }, title: 'BOOK 0.', letters: 7, spine: 'BOOK 0. 1.01' },
      ...{ size: { width: 2.35, unit: 'cm' }, shelf: { name: 'Top' }, created_at: expect.any(Date), deleted_at: null },
    });
    expect(made[0]).toBeInstanceOf(Book);
    expect(made[0]).not.toHaveProperty('secret');
    // Subscribers are told what TypeORM tells them after an insert().
    expect(told).toEqual(times(count, (position) => [position, 3]).reverse());
  });

  it('are returned also if some are hidden from the beginning', async () => {
    const made = await insertRows(manager(), Book, [book(0), { ...book(1), deleted_at: new Date() }, book(2)]);
    expect(made.map(({ position, deleted_at }) => [position, deleted_at === null])).toEqual([
      [0, true],
      [1, false],
      [2, true],
    ]);
    expect(await insertRows(manager(), Book, [])).toEqual([]);
  });

  it('are found by keys that JavaScript changes or that TypeORM takes for one', async () => {
    const at = new Date('2026-02-28T12:00:00.123Z');
    const signs: Partial<Sign>[] = [
      { at, mark: 1.005, one: 'a', other: 'b_c' },
      { at, mark: 1.005, one: 'a_b', other: 'c' },
      { at, mark: 1.005, one: 'a,b', other: 'c' },
      { at, mark: 1.005, one: 'a', other: 'b,c' },
      { mark: 1, one: 'now', other: '' },
      { mark: 1, one: 'now', other: '' },
    ];
    const made = await insertRows(manager(), Sign, signs);
    expect(made.map(({ mark, one, other, number }) => [mark, one, other.trimEnd(), number])).toEqual([
      ...[
        [1.01, 'a', 'b_c', 1],
        [1.01, 'a_b', 'c', 1],
        [1.01, 'a,b', 'c', 1],
      ],
      ...[
        [1.01, 'a', 'b,c', 1],
        [1, 'now', '', 1],
        [1, 'now', '', 1],
      ],
    ]);
  });

  it('are the rows that were inserted, where the id alone is that of several', async () => {
    const leaves = [3, 1, 2].map((branch) => ({ id: 1, branch, width: branch + 0.005 }));
    expect(await insertRows(manager(), Leaf, leaves)).toEqual([
      { id: 1, branch: 3, width: 3.01 },
      { id: 1, branch: 1, width: 1.01 },
      { id: 1, branch: 2, width: 2.01 },
    ]);
    expect(await insertRows(manager(), Leaf, [{ id: 1, branch: 4, width: 4 }])).toEqual([
      { id: 1, branch: 4, width: 4 },
    ]);
  });

  it('are returned in their order, however many they are', async () => {
    const rows = times(300, (index) => ({ at: new Date(), mark: index, one: `row ${index}`, other: '' }));
    const made = await insertRows(manager(), Sign, rows);
    expect(made.map(({ one }) => one)).toEqual(rows.map(({ one }) => one));
  });
});
