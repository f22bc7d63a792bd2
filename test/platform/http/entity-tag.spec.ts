import type { Request } from 'express';
import { Encoding } from '../../../src/platform/http/compressed';
import { encodedTag, entityTagOf, knownTag, VERSION, VIEW } from '../../../src/platform/http/entity-tag';

const asking = (known?: string) => ({ headers: { 'if-none-match': known } }) as unknown as Request;
const reading = (more: object = {}) => more as Request;

describe('The entity tag of a representation', () => {
  it.each([
    [{ [VERSION]: 1 }, {}, '1'],
    [{ [VERSION]: 1, [VIEW]: 'public' }, {}, '1-public'],
    [{ [VERSION]: 1 }, { representation: { variant: 'vnd1' } }, '1-vnd1'],
    [{ [VERSION]: 1, [VIEW]: 'public' }, { representation: { variant: 'vnd1' } }, '1-public-vnd1'],
    [{ [VERSION]: 1 }, { fields: ['id'] }, undefined],
    [{}, {}, undefined],
  ])('%# is its version and what else distinguishes it', (body, request, tag) => {
    expect(entityTagOf(body, reading(request))).toBe(tag);
  });

  it('names its encoding', () => {
    expect(encodedTag('1', undefined)).toBe('"1"');
    for (const encoding of Object.values(Encoding)) expect(encodedTag('1', encoding)).toBe(`"1-${encoding}"`);
  });
});

describe('If-None-Match', () => {
  it.each([
    ['"1"', '"1"'],
    ['W/"1"', '"1"'],
    ['"7", "1"', '"1"'],
    ['"7","1-gzip"', '"1-gzip"'],
    ['"1-br"', '"1-br"'],
    ['*', '"1"'],
    [' * ', '"1"'],
    ['"2"', undefined],
    ['"11"', undefined],
    ['"1-public"', undefined],
    ['"1-gzip-gzip"', undefined],
    ['1', undefined],
    ['"1', undefined],
    ['', undefined],
    ['"*"', undefined],
    [undefined, undefined],
  ])('%j knows of the tag 1: %j', (header, tag) => {
    expect(knownTag('1', asking(header))).toBe(tag);
  });
});
