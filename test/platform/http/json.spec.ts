import fc from 'fast-check';
import { safeBytes, toJson } from '../../../src/platform/http/json';

const UNSAFE = /[<>&\u2028\u2029]/;
const TEXT = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('<', '>', '&', '\u2028', '\u2029', '\u2027', 'é', '😀', '"', '\\'))
    .map((all) => all.join('')),
);

describe('JSON of the service', () => {
  it('means what it is made of, holds nothing that a page would take for its own, and is the same in bytes', () => {
    fc.assert(
      fc.property(fc.dictionary(TEXT, fc.oneof(TEXT, fc.integer(), fc.constant(null))), (value) => {
        const text = toJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(text).not.toMatch(UNSAFE);
        expect(safeBytes(JSON.stringify(value)).toString()).toBe(text);
      }),
    );
  });

  it.each([8_190, 8_191, 8_192, 20_000])('is escaped in the same way when it is long: %i', (length) => {
    const value = '<\u2028>&\u2029é😀'.padEnd(length, 'a</b>');
    const text = toJson(value);
    expect(JSON.parse(text)).toBe(value);
    expect(text).not.toMatch(UNSAFE);
    expect(safeBytes(JSON.stringify(value)).toString()).toBe(text);
  });
});
