import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import fc from 'fast-check';
import { CURSOR_PATTERN, CursorSeal, MAX_CURSOR, type Position } from '../../../src/platform/lists/cursor';

const seal = (...secrets: Buffer[]) => new CursorSeal({ derive: () => secrets } as never);
const request = (query: object, path = '/api/products'): Request => ({ query, path }) as unknown as Request;

describe('A cursor', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const ofList = seal(newer, older);
  const position: Position = { value: 'a', id: 7, backwards: false };
  const give = (query: object, by = ofList, url?: string) => by.cursorsOf(request(query, url)).seal(position);
  const open = (cursor: string, query: object = {}, by = ofList, url?: string) =>
    by.cursorsOf(request({ ...query, cursor }, url)).position;

  it('leads back to its position, whatever the value is', () => {
    const values = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(null),
    );
    const ids = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(values, ids, fc.boolean(), fc.boolean(), (value, id, backwards, many) => {
        const one = { value: Object.is(value, -0) ? 0 : value, id, backwards, ...(many && { isOfMany: true }) };
        const cursor = ofList.cursorsOf(request({})).seal(one);
        expect(cursor).toMatch(new RegExp(CURSOR_PATTERN));
        expect(open(cursor)).toEqual(one);
      }),
    );
  });

  it('of a value that equals the id leads back to both', () => {
    const one = { value: 7, id: 7, backwards: true };
    expect(open(ofList.cursorsOf(request({})).seal(one))).toEqual(one);
  });

  it('is another each time, and tells nothing of its value', () => {
    expect(give({})).not.toBe(give({}));
    expect(Buffer.from(give({}), 'base64url').includes('"a"')).toBe(false);
  });

  it('is good for other pages and attributes of its list', () => {
    expect(open(give({ size: '5', fields: 'id' }), { limit: '9' })).toEqual(position);
    expect(open(give({}, ofList, '/api/products'), {}, ofList, '/api/products/')).toEqual(position);
    expect(open(give({ order: 'asc', sort: 'id' }), {})).toEqual(position);
    expect(open(give({ sort: 'name' }), { sortBy: 'name' })).toEqual(position);
  });

  it.each([
    ['sort', { sort: 'name' }],
    ['order', { order: 'desc' }],
    ['search', { search: 'a' }],
    ['status', { status: 'ACTIVE' }],
  ])('is not good for another %s', (_name, query) => {
    expect(() => open(give({}), query)).toThrow();
    expect(() => open(give(query), {})).toThrow();
  });

  it('is not good for another path', () => {
    expect(() => open(give({}), {}, ofList, '/api/posts')).toThrow();
  });

  it('is good while its secret is one of the secrets, and not after', () => {
    expect(open(give({}, seal(older)))).toEqual(position);
    expect(() => open(give({}, seal(older)), {}, seal(newer))).toThrow();
  });

  it('is refused when a letter of it is another, or when it is spelt otherwise', () => {
    const cursor = give({});
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      expect(() => open(cursor.slice(0, at) + other + cursor.slice(at + 1))).toThrow();
    }
    for (const spelling of [`${cursor}=`, `${cursor} `, cursor.slice(0, -1), '', 'A', 'A'.repeat(MAX_CURSOR + 1)]) {
      expect(() => open(spelling)).toThrow();
    }
  });
});
