import fc from 'fast-check';
import { ApiError, MAX_VIOLATIONS } from '../../../src/platform/errors/api-error';
import { MAX_PARAMETERS, parseQuery } from '../../../src/platform/pipeline/query-string';

const NAME = fc.string({ unit: 'grapheme' });

/** The fields and rules of the violations that a query is refused with. */
function violationsOf(text: string, ...options: { field: string; max: number }[]): string[] {
  try {
    parseQuery(text, ...options);
    return [];
  } catch (error) {
    return (error as ApiError).fields!.map(({ field, rule }) => `${field} ${rule}`);
  }
}

describe('A query string', () => {
  it.each([
    [null, {}],
    ['', {}],
    ['&', {}],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['=a', { '': 'a' }],
    ['a=1&&b=2&', { a: '1', b: '2' }],
    ['a=b=c', { a: 'b=c' }],
    ['a+b=c+d', { 'a b': 'c d' }],
    ['a%2Bb=%2B', { 'a+b': '+' }],
    ['a=%F0%9F%98%80', { a: '😀' }],
    ['a[b]=1', { 'a[b]': '1' }],
    ['a=?#/', { a: '?#/' }],
    ['fields=a&b=1&fields=b,c', { fields: 'a,b,c', b: '1' }],
    ['%66ields=a&fields=', { fields: 'a,' }],
  ])('%j is %j', (text, values) => {
    expect(parseQuery(text)).toEqual(values);
  });

  it.each([
    ['a=1&a=2', ['a once']],
    ['a=1&%61=1', ['a once']],
    ['a=%', ['a encoding']],
    ['a=%zz', ['a encoding']],
    ['a=%C0%80', ['a encoding']],
    ['a=%ED%A0%80', ['a encoding']],
    ['%=1', ['query encoding']],
    ['a=1&a=2&b=%', ['a once', 'b encoding']],
    ['a=%&a=1&a=2', ['a once']],
  ])('%j is refused: %j', (text, violations) => {
    expect(violationsOf(text)).toEqual(violations);
  });

  it('gives __proto__ no meaning', () => {
    const values = parseQuery('__proto__=1');
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
    expect(Object.entries(values)).toEqual([['__proto__', '1']]);
  });

  it('is decoded no further than the twentieth malformed parameter', () => {
    const decode = jest.spyOn(globalThis, 'decodeURIComponent');
    try {
      expect(violationsOf(Array(MAX_PARAMETERS).fill('%FF=%').join('&'))).toEqual(['query encoding']);
      expect(decode).toHaveBeenCalledTimes(2 * MAX_VIOLATIONS);
    } finally {
      decode.mockRestore();
    }
  });

  it('has at most 100 parameters', () => {
    const pairs = Array.from({ length: MAX_PARAMETERS + 1 }, (_, index) => `p${index}=`);
    expect(Object.keys(parseQuery(pairs.slice(1).join('&')))).toHaveLength(MAX_PARAMETERS);
    expect(violationsOf(pairs.join('&'))).toEqual(['query size']);
  });

  it('may have as many values of a list beside them', () => {
    const [one, ...others] = Array.from({ length: MAX_PARAMETERS }, (_, index) => `p${index}=`);
    const list = Array(MAX_PARAMETERS).fill('fields=a').join('&');
    expect(parseQuery(`${list}&${others.join('&')}`).fields).toHaveLength(2 * MAX_PARAMETERS - 1);
    expect(violationsOf(`${list}&${others.join('&')}&${one}&p=`)).toEqual(['query size']);
  });

  it('repeats nothing where it is a form', () => {
    expect(violationsOf('fields=a&fields=b', { field: 'body', max: 9 })).toEqual(['fields once']);
  });

  it('is what URLSearchParams has written', () => {
    fc.assert(
      fc.property(fc.dictionary(NAME, NAME, { maxKeys: 20 }), (values) => {
        expect({ ...parseQuery(new URLSearchParams(values).toString()) }).toEqual({ ...values });
      }),
    );
  });

  it('throws nothing but an error of the service, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          parseQuery(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
    );
  });
});
