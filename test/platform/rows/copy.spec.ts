import fc from 'fast-check';
import { copyOf } from '../../../src/platform/rows/copy';

const LEAF = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.constant(null),
  fc.constant(undefined),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, LEAF, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
}));

describe('The copy of a value of a row', () => {
  it('is equal, and shares nothing that can be changed', () => {
    fc.assert(
      fc.property(value, (original) => {
        const copy = copyOf(original);
        expect(copy).toEqual(original);
        expectApart(original, copy);
      }),
    );
  });

  it('keeps an attribute that is called __proto__', () => {
    const copy = copyOf(JSON.parse('{ "__proto__": { "a": 1 } }') as object);
    expect(Object.keys(copy)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it('has the class of the original', () => {
    class Name {
      first = 'Ada';
    }
    expect(copyOf(new Name())).toBeInstanceOf(Name);
    expect(Object.getPrototypeOf(copyOf(Object.create(null) as object))).toBeNull();
  });
});

function expectApart(original: unknown, copy: unknown): void {
  if (typeof original !== 'object' || original === null) return;
  expect(copy).not.toBe(original);
  for (const name of Object.keys(original)) {
    expectApart((original as Record<string, unknown>)[name], (copy as Record<string, unknown>)[name]);
  }
}
