import { keepSortValues, sortValueOf } from '../../../src/platform/lists/sort-value';

describe('The place of an item in the order of a column', () => {
  it.each([
    ['a', 'a'],
    [7, 7],
    [null, null],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
    [new Date('2026-01-02T03:04:05.678Z'), '2026-01-02T03:04:05.678Z'],
    [new Date('0001-01-01T00:00:00.000Z'), '0001-01-01T00:00:00.000Z'],
    [new Date('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59.999Z'],
    [new Date('+010000-01-01T00:00:00.000Z'), '10000-01-01T00:00:00.000Z'],
    [new Date('0000-12-31T00:00:00.000Z'), '0001-12-31T00:00:00.000Z BC'],
    [new Date('-000043-03-15T00:00:00.000Z'), '0044-03-15T00:00:00.000Z BC'],
  ])('%s is %j', (value, place) => {
    expect(sortValueOf({ id: 1, value }, 'value')).toBe(place);
  });

  it('is what the database has written, where that says more', () => {
    const entity = { id: 1, at: new Date(0) };
    const unknown = { id: 2, at: new Date(0) };
    keepSortValues([{ place_id: '1', place: '1970-01-01 00:00:00.000001+00' }], [entity, unknown]);
    expect(sortValueOf(entity, 'at')).toBe('1970-01-01 00:00:00.000001+00');
    expect(sortValueOf(unknown, 'at')).toBeNull();
  });
});
