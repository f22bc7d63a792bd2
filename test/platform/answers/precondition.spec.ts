import type { Request } from 'express';
import { readPrecondition } from '../../../src/platform/answers/precondition';
import { StaleVersionError } from '../../../src/platform/transactions/precondition';

const VERSIONS = [1, 2, 3, 2 ** 31 - 1];

/** The versions, of some, in which a row may be changed with these headers. Undefined if the headers demand nothing. */
function allowed(headers: Record<string, string>, method = 'PATCH'): number[] | undefined {
  const precondition = readPrecondition({ method, headers } as unknown as Request);
  return precondition && VERSIONS.filter((version) => isAllowed(() => precondition.require(version)));
}

function isAllowed(require: () => void): boolean {
  try {
    require();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(StaleVersionError);
    return false;
  }
}

describe('If-Match', () => {
  it.each([
    ['*', undefined],
    [' * ', undefined],
    ['"1"', [1]],
    ['  "1" ', [1]],
    ['"1", "3"', [1, 3]],
    ['"1","3"', [1, 3]],
    ['"1-gzip"', [1]],
    ['"1-public-br"', [1]],
    ['"2147483647"', [2 ** 31 - 1]],
    ['W/"1"', []],
    ['W/"1", "2"', [2]],
    ['"2147483648"', []],
    ['"99999999999"', []],
    ['"01", "x", "1x"', []],
    ['1', []],
    ['', []],
    ['"', []],
    ['""', []],
  ])('%j allows %j', (header, versions) => {
    expect(allowed({ 'if-match': header })).toEqual(versions);
  });
});

describe('If-None-Match', () => {
  it.each([
    ['*', []],
    ['"1"', [2, 3, 2 ** 31 - 1]],
    ['W/"1", "2-gzip"', [3, 2 ** 31 - 1]],
    ['"x"', VERSIONS],
    ['', VERSIONS],
  ])('%j allows %j', (header, versions) => {
    expect(allowed({ 'if-none-match': header })).toEqual(versions);
  });

  it('counts beside If-Match', () => {
    expect(allowed({ 'if-match': '"1", "2"', 'if-none-match': '"2"' })).toEqual([1]);
    expect(allowed({ 'if-match': '"1"', 'if-none-match': '*' })).toEqual([]);
  });
});

describe('A precondition', () => {
  it.each(['GET', 'HEAD', 'POST', 'OPTIONS'])('is none of %s', (method) => {
    expect(allowed({ 'if-match': '"1"', 'if-none-match': '*' }, method)).toBeUndefined();
  });

  it.each(['PUT', 'PATCH', 'DELETE'])('is nothing without a header: %s', (method) => {
    expect(allowed({}, method)).toBeUndefined();
  });

  it('is a condition of the statement that writes, with values by their places', () => {
    const headers = { 'if-match': '"1", "2"', 'if-none-match': '"3"' };
    const precondition = readPrecondition({ method: 'PUT', headers } as unknown as Request)!;
    const values: unknown[] = ['first'];

    expect(precondition.conditions(values, 'row.version')).toEqual([
      'row.version = ANY($2::integer[])',
      'row.version <> ALL($3::integer[])',
    ]);
    expect(values).toEqual(['first', [1, 2], [3]]);
  });
});
