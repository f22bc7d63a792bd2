import { DataSource } from 'typeorm';
import { linkRows, unlinkRows } from '../../src/platform';
import { times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const LINK = { table: 'shelves', column: 'book_ids', target: 'books' };

interface Shelf {
  id: number;
  book_ids: number[];
  version: number;
}

describe('linkRows', () => {
  const api = useTestApi();
  let database: DataSource;
  const query = <T = Shelf>(text: string, values: unknown[] = []) => database.query<T[]>(text, values);
  /** The keys of the rows of the other table, which belong to one row. */
  const linksOf = async ({ id }: Shelf) =>
    (
      await query<{ one: number }>('SELECT target_id AS one FROM shelves_book_ids WHERE row_id = $1 ORDER BY 1', [id])
    ).map(({ one }) => one);
  const books = async (number: number) =>
    (
      await query<{ id: number }>('INSERT INTO books SELECT FROM generate_series(1, $1::int) RETURNING id', [number])
    ).map(({ id }) => id);
  const shelf = async (ids: number[]) =>
    (await query('INSERT INTO shelves (book_ids) VALUES ($1) RETURNING *', [ids]))[0];
  const read = async ({ id }: Shelf) => (await query('SELECT * FROM shelves WHERE id = $1', [id]))[0];

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    await query('CREATE TABLE books (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)');
    await query(`
      CREATE TABLE shelves (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        updated_at timestamptz NOT NULL DEFAULT now(),
        version integer NOT NULL DEFAULT 1,
        book_ids bigint[] NOT NULL DEFAULT '{}'
      )`);
    await query('CREATE TRIGGER shelves_touch BEFORE UPDATE ON shelves FOR EACH ROW EXECUTE FUNCTION touch_row()');
    const runner = database.createQueryRunner();
    await linkRows(runner, LINK);
    await runner.release();
  });

  it('keeps each id of a list in the other table, in the same statement', async () => {
    const [one, two, three] = await books(3);
    const row = await shelf([two, one]);
    expect(await linksOf(row)).toEqual([one, two]);

    await query('UPDATE shelves SET book_ids = $2 WHERE id = $1', [row.id, [three, two]]);

    expect(await read(row)).toMatchObject({ book_ids: [three, two], version: 2 });
    expect(await linksOf(row)).toEqual([two, three]);
  });

  it('refuses an id without a row by a constraint that names the column', async () => {
    const [one] = await books(1);
    const row = await shelf([one]);
    const refusal = { driverError: { code: '23503', constraint: 'shelves_book_ids_fkey' } };

    await expect(shelf([one, 2 ** 40])).rejects.toMatchObject(refusal);
    await expect(query('UPDATE shelves SET book_ids = $2 WHERE id = $1', [row.id, [2 ** 40]])).rejects.toMatchObject(
      refusal,
    );
    expect(await read(row)).toEqual(row);
  });

  it('takes a deleted row from all lists, and gives these rows a new version', async () => {
    const [one, two] = await books(2);
    const [both, other] = [await shelf([one, two]), await shelf([two])];

    await query('DELETE FROM books WHERE id = $1', [one]);

    expect(await read(both)).toMatchObject({ book_ids: [two], version: 2 });
    expect(await read(other)).toEqual(other);
    expect(await linksOf(both)).toEqual([two]);
  });

  it('forgets the links of a deleted row', async () => {
    const [one] = await books(1);
    const row = await shelf([one]);

    await query('DELETE FROM shelves WHERE id = $1', [row.id]);

    expect(await linksOf(row)).toEqual([]);
    expect(await query('SELECT FROM books WHERE id = $1', [one])).toHaveLength(1);
  });

  it('leaves no id without a row where rows are deleted while others name them', async () => {
    await Promise.all(
      times(20, async () => {
        const ids = await books(2);
        const deletion = query('DELETE FROM books WHERE id = $1', [ids[0]]);
        const writes = times(3, () => shelf(ids).catch(() => undefined));
        await Promise.all([deletion, ...writes]);
      }),
    );

    expect(
      await query('SELECT id FROM shelves, unnest(book_ids) AS one WHERE one NOT IN (SELECT id FROM books)'),
    ).toEqual([]);
    expect(
      await query(`SELECT id FROM shelves WHERE cardinality(book_ids) <>
        (SELECT count(*) FROM shelves_book_ids WHERE row_id = shelves.id)`),
    ).toEqual([]);
  });

  it('takes the links of rows that the table has already, and reverts itself', async () => {
    const [one] = await books(1);
    const row = await shelf([one]);
    const runner = database.createQueryRunner();

    await unlinkRows(runner, LINK);
    expect(await query("SELECT FROM pg_proc WHERE proname LIKE 'shelves_book_ids%'")).toEqual([]);
    await linkRows(runner, LINK);
    await runner.release();

    expect(await linksOf(row)).toEqual([one]);
  });
});
