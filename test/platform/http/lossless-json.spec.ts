import { bigintIn, lossIn, toLosslessJson, toLosslessJsonBytes } from '../../../src/platform/http/lossless-json';
import { csv } from '../../../src/platform/exports/csv';
import { ndjson } from '../../../src/platform/exports/ndjson';

const LOSSY = { id: 1, tags: [{}, { names: new Set(['a']) }] };
const REFUSAL = 'tags.1.names is an iterator or a Set, of which JSON keeps nothing; return Array.from() of it';

describe('JSON of answers', () => {
  it.each([
    ['a line of NDJSON', () => ndjson.line(LOSSY, ['id', 'tags'])],
    ['an item of a page', () => toLosslessJson(LOSSY)],
    ['an item of a large page', () => toLosslessJsonBytes(LOSSY)],
  ])('is refused with the place of what it would lose: %s', (_name, write) => {
    expect(write).toThrow(REFUSAL);
  });

  it('is refused in a field of CSV', () => {
    expect(() => csv.line(LOSSY, ['id', 'tags'])).toThrow('1.names is an iterator or a Set');
    expect(() => csv.line({ a: new Map() }, ['a'])).toThrow('its value is a Map');
  });

  it('is what JSON.stringify() writes where nothing is lost', () => {
    const value = {
      empty: {},
      text: '{}',
      day: new Date(0),
      bytes: Buffer.from('a'),
      none: undefined,
      codes: { 0: 'a' },
    };

    expect(toLosslessJson(value)).toBe(JSON.stringify(value));
    expect(toLosslessJsonBytes(value).toString()).toBe(JSON.stringify(value));
    expect(lossIn(value, JSON.stringify(value))).toBeUndefined();
  });

  it('names the place of a bigint', () => {
    expect(bigintIn({ a: [1, { b: 2n }] })).toMatchObject({ place: 'a.1.b', instead: 'a number or a text' });
  });
});
