import { byName } from '../../../src/platform/transactions/statement-names';

const TIMES = 5;

/** What is sent each time. */
const sent = (text: string, values: unknown = [1]) => Array.from({ length: TIMES }, () => byName(text, values));

describe('A statement that comes often', () => {
  it('has a name from the third time on, which is always the same', () => {
    const text = 'SELECT name FROM shelves WHERE id = $1';
    const [first, second, ...others] = sent(text);

    expect([first, second]).toEqual([text, text]);
    const [named] = others as { name: string; text: string }[];
    expect(named).toEqual({ name: expect.stringMatching(/^[\w-]{43}$/) as string, text });
    expect(others).toEqual(others.map(() => named));
    expect(byName('SELECT name FROM shelves WHERE  id = $1', [1])).toBe('SELECT name FROM shelves WHERE  id = $1');
  });

  it.each([
    ['an insert', 'INSERT INTO shelves (name) VALUES ($1) RETURNING id'],
    ['an update', 'UPDATE shelves SET name = $1 WHERE id = 5'],
    ['a deletion', 'DELETE FROM shelves WHERE id = $1'],
    ['a condition on an array', 'SELECT id FROM shelves WHERE tags @> $1 AND id <> 3'],
    ['a value of JSON', 'SELECT id FROM shelves WHERE about->>$1 IS NULL'],
    ['a difference', 'SELECT id FROM shelves WHERE id <> $1'],
    ['a number of rows', 'SELECT count(*)::integer FROM (SELECT FROM shelves WHERE id = $1 LIMIT 5) AS some'],
    ['rows in an order', 'SELECT id FROM shelves WHERE id = ANY($1) ORDER BY id FOR UPDATE'],
    ['a comparison of columns', 'UPDATE shelves SET stock = stock - $1 WHERE stock > least'],
  ])('has a name: %s', (_name, text) => {
    expect(sent(text).at(-1)).toMatchObject({ text });
  });

  it.each([
    ['a list', 'SELECT id FROM shelves WHERE status = $1 ORDER BY id LIMIT 20'],
    ['a group', 'SELECT status FROM shelves WHERE id = $1 GROUP BY status'],
    ['a search', 'SELECT id FROM shelves WHERE name ilike $1'],
    ['a range', 'DELETE FROM shelves WHERE id IN (SELECT id FROM shelves WHERE made_at < $1 LIMIT 5)'],
    ['a range with its ends', 'SELECT id FROM shelves WHERE id >=$1'],
    ['a range between values', 'SELECT id FROM shelves WHERE id BETWEEN $1 AND 9'],
    ['all columns of one of two tables', 'SELECT count(*), racks.* FROM racks WHERE id = $1'],
    ['all columns', 'SELECT * FROM shelves WHERE id = $1'],
    ['a setting', 'SET LOCAL x.y = $1'],
    ['several statements', 'SELECT $1; SELECT 2'],
    ['a text of many rows', `INSERT INTO shelves (id) VALUES ${Array(1_000).fill('($1)').join()}`],
  ])('has no name, as it had better be planned for its values, or hardly comes again: %s', (_name, text) => {
    expect(sent(text)).toEqual(Array(TIMES).fill(text));
  });

  it.each([
    ['no values', []],
    ['no list of values', null],
    ['a callback', () => undefined],
    ['many values', Array(51).fill(1)],
  ])('has no name with %s', (_name, values) => {
    const text = 'SELECT id FROM racks WHERE id = $1';
    expect(sent(text, values)).toEqual(Array(TIMES).fill(text));
  });

  it('is left alone if it is no text', () => {
    const statement = { name: 'mine', text: 'SELECT 1', values: [1] };
    expect(byName(statement, [1])).toBe(statement);
  });
});
