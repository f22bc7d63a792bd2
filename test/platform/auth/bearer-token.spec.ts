import type { IncomingMessage } from 'node:http';
import { bearerTokenOf } from '../../../src/platform/auth/bearer-token';

const withHeaders = (...values: string[]) =>
  ({
    headers: { authorization: values[0] },
    rawHeaders: values.flatMap((value, index) => [index === 0 ? 'Authorization' : 'authorization', value]),
  }) as unknown as IncomingMessage;

describe('The bearer token of a request', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   abc', 'abc'],
    ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g=='],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['Bearerabc', undefined],
    ['Bearer\tabc', undefined],
    ['Bearer a b', undefined],
    ['Bearer a=b', undefined],
    ['Bearer abc ', undefined],
    ['Bearer abc, Bearer abc', undefined],
    ['Basic abc', undefined],
    ['', undefined],
  ])('%j is %j', (header, token) => {
    expect(bearerTokenOf(withHeaders(header))).toBe(token);
  });

  it('is none without the header, and none where there are two', () => {
    expect(bearerTokenOf(withHeaders())).toBeUndefined();
    expect(bearerTokenOf(withHeaders('Bearer abc', 'Bearer abc'))).toBeUndefined();
  });
});
