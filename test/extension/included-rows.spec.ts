import { Column, DeleteDateColumn, Entity, JoinColumn, ManyToOne, OneToMany, type Relation } from 'typeorm';
import { ListOf, ListQueryOf, paginate, ResourceDto, ResourceEntity, Text } from '../../src/platform';
import { CURSORS, type ListQuery } from '../../src/platform/lists/list-query';
import { statementsOf, times } from '../../src/platform/testing';
import { useScratchDatabase } from './scratch-database';

@Entity('shelves')
class Shelf extends ResourceEntity {
  @Column()
  label: string;

  @OneToMany(() => ShelfNote, (note) => note.shelf)
  notes: Relation<ShelfNote>[];

  @OneToMany(() => Sticker, (sticker) => sticker.shelf)
  stickers: Relation<Sticker>[];
}

@Entity('shelf_notes')
class ShelfNote extends ResourceEntity {
  @Column('bigint')
  shelf_id: number;

  @ManyToOne(() => Shelf, (shelf) => shelf.notes)
  @JoinColumn({ name: 'shelf_id' })
  shelf?: Relation<Shelf>;

  @Column({ name: 'written_text', type: 'text', nullable: true })
  text: string | null;

  @Column('bigint')
  large: number | string;

  @Column({ type: 'numeric', precision: 30, scale: 20 })
  exact: number | string;

  @Column({ type: 'numeric', precision: 12, scale: 2 })
  price: number;

  @Column('timestamptz')
  moment: Date;

  @Column('timestamp')
  clock: Date;

  @Column('date')
  day: string;

  @Column('double precision')
  ratio: number;

  @Column('jsonb')
  details: object;

  @Column('bytea')
  bytes: Buffer;

  @Column({ select: false, default: 'hidden' })
  secret: string;

  @DeleteDateColumn()
  deleted_at: Date | null;

  get summary(): string {
    return `${this.id}: ${this.text}`;
  }
}

/** What TypeORM has to make: a value is converted. */
@Entity('stickers')
class Sticker extends ResourceEntity {
  @Column('bigint')
  shelf_id: number;

  @ManyToOne(() => Shelf, (shelf) => shelf.stickers)
  @JoinColumn({ name: 'shelf_id' })
  shelf?: Relation<Shelf>;

  @Column({ transformer: { to: (text: string) => text.toLowerCase(), from: (text?: string) => text?.toUpperCase() } })
  text: string;
}

class ShelfNoteDto {
  @Text({ max: 50_000 })
  text: string;
}

class ShelfDto extends ResourceDto {
  @Text({ max: 100 })
  label: string;

  @ListOf(() => ShelfNoteDto, { min: 0, max: 100 })
  notes: ShelfNoteDto[];
}

class ListShelvesQuery extends ListQueryOf(ShelfDto, { sortable: ['id', 'label'] }) {}

const MEBIBYTE = 1024 * 1024;

describe('What a list includes', () => {
  const scratch = useScratchDatabase([Shelf, ShelfNote, Sticker]);
  const include = { notes: 'id', stickers: 'id' } as const;

  const read = (query: ListQuery = {}) =>
    paginate(scratch.repository(Shelf), Object.assign(new ListShelvesQuery(), query), { include });

  const aNote = (shelf_id: number, more: Partial<ShelfNote> = {}): Partial<ShelfNote> => ({
    ...{ shelf_id, text: 'a "text" of 漢\u2028', large: 7, exact: 0.5, price: 19.2, ratio: 0.1 },
    ...{ moment: new Date('2026-01-31T12:00:00.123Z'), clock: new Date(2026, 0, 31, 12), day: '2026-01-31' },
    ...{ details: { a: [1, 'b', null] }, bytes: Buffer.from([0, 255]) },
    ...more,
  });

  async function aShelf(label: string): Promise<Shelf> {
    return scratch.repository(Shelf).save({ label } as Shelf);
  }

  beforeAll(async () => {
    const [first, second] = [await aShelf('one'), await aShelf('two')];
    const notes = scratch.repository(ShelfNote);
    await notes.insert([
      aNote(second.id),
      aNote(first.id, { text: null, large: '9223372036854775807', exact: '1234567890.12345678901234567890' }),
      aNote(first.id, { ratio: NaN, details: {}, day: '0044-03-15 BC' }),
      aNote(first.id, { deleted_at: new Date() }),
    ]);
    await scratch.database.query("UPDATE shelf_notes SET moment = 'infinity', price = 'NaN' WHERE details = '{}'");
    await scratch.repository(Sticker).insert([
      { shelf_id: first.id, text: 'Red' },
      { shelf_id: first.id, text: 'Blue' },
    ]);
    await aShelf('empty');
  });

  it('is what TypeORM makes of the same rows, of every type, in its order', async () => {
    const relations = { notes: true, stickers: true };
    const order = { id: 'ASC', notes: { id: 'ASC' }, stickers: { id: 'ASC' } } as const;
    const expected = await scratch.repository(Shelf).find({ relations, order });

    for (const query of [{}, { [CURSORS]: { seal: () => 'cursor' } }]) {
      const { data } = await read(query);
      expect(data).toEqual(expected);
      expect(data.map(({ notes, stickers }) => [notes.length, stickers.length])).toEqual([
        [2, 2],
        [1, 0],
        [0, 0],
      ]);
      expect(data[1].notes[0]).toBeInstanceOf(ShelfNote);
      expect(data[1].notes[0].summary).toMatch(/^\d+: a "text"/);
      expect(data[0].stickers.map(({ text }) => text)).toEqual(['RED', 'BLUE']);
    }
  });

  it('is not read where it is not asked for', async () => {
    const { data } = await read({ fields: ['label'] });

    expect(data.map((shelf) => Object.keys(shelf).sort())).toEqual(times(3, () => ['id', 'label']));
  });

  it('is one text for each row, which repeats nothing', async () => {
    const sent = await statementsOf(() => read());

    expect(sent.filter((text) => text.includes('shelf_notes'))).toEqual([expect.stringContaining('json_agg')]);
    expect(sent.join()).not.toMatch(/JOIN "shelf_notes"/);
  });

  describe('counts among the bytes of a page:', () => {
    const SHELVES = 4;
    const NOTES = 50;

    beforeAll(async () => {
      for (const index of times(SHELVES, (number) => number)) {
        const { id } = await aShelf(`large ${index}`);
        await scratch.repository(ShelfNote).insert(times(NOTES, () => aNote(id, { text: 'x'.repeat(50_000) })));
      }
    });

    it('a page of a number is refused before it is read', async () => {
      const before = await bytesRead();
      await expect(read({ size: 100 })).rejects.toMatchObject({ fields: [{ field: 'size', rule: 'bytes' }] });

      expect((await bytesRead()) - before).toBeLessThan(MEBIBYTE);
    });

    it('a page of cursors has fewer rows', async () => {
      const { data } = await read({ size: 100, [CURSORS]: { seal: () => 'cursor' } });

      // Three of 2.5 MB, after the small ones.
      expect(data.map(({ label }) => label)).toEqual(['one', 'two', 'empty', 'large 0', 'large 1', 'large 2']);
      expect(data[5].notes).toHaveLength(NOTES);
    });

    /** By all connections of the pool. */
    async function bytesRead(): Promise<number> {
      const { master } = scratch.database.driver as unknown as { master: { _clients: Connected[] } };
      return Promise.resolve(master._clients.reduce((sum, { connection }) => sum + connection.stream.bytesRead, 0));
    }
  });
});

interface Connected {
  connection: { stream: { bytesRead: number } };
}
