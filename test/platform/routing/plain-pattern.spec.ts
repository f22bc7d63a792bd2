import { Router } from 'express';
import fc from 'fast-check';
import { plainPattern } from '../../../src/platform/routing/plain-pattern';
import type { Layer } from '../../../src/platform/routing/route-index';

/** What a matcher tells of a path, or the error that it throws. */
function asked(match: (path: string) => unknown, path: string): unknown {
  try {
    return match(path);
  } catch (error) {
    const { name: kind, message } = error as Error;
    return { kind, message, ...(error as object) };
  }
}

/** The layer of Express's router for a pattern. */
function layerOf(pattern: string): Layer {
  const router = Router();
  router.get(pattern, () => undefined);
  return router.stack[0] as unknown as Layer;
}

const name = fc.constantFrom('things', 'Things', 'a.b', 'x-y', '~z', '7');
const parameter = fc.constantFrom(':id', ':Id', ':_x', ':a$');
const segments = fc.uniqueArray(fc.oneof(name, parameter), { minLength: 1, maxLength: 4 });
const pattern = segments.map((all) => `/${all.join('/')}`);
const odd = fc.constantFrom('', '%', '%ff', '%2F', '%41', '*', ':id', 'aXb', '\n', 'THINGS', '\u017f', '\u212a', 'ß');
const text = fc.oneof(name, odd, fc.string({ maxLength: 5 }));
const path = fc.array(text, { maxLength: 5 }).map((all) => `/${all.join('/')}`);

describe('The match of a plain pattern', () => {
  it("is that of Express's router, for any path", () => {
    fc.assert(
      fc.property(pattern, path, (one, other) => {
        const layer = layerOf(one);
        const match = plainPattern(one)!;
        // A path of the pattern itself, and one that has nothing to do with it.
        for (const candidate of [one, `${one}/`, one.toUpperCase(), other, one.replace(/:[^/]+/, 'k%41')]) {
          expect([candidate, asked(match, candidate)]).toEqual([
            candidate,
            asked((all) => layer.match(all), candidate),
          ]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('has parameters without a prototype, as those of the router', () => {
    const match = plainPattern('/things/:id')!('/things/7');

    expect(Object.getPrototypeOf(match && match.params)).toBeNull();
    expect(match && 'toString' in match.params).toBe(false);
  });

  it.each([
    '/a/*rest',
    '/a{/:b}',
    '/a/:b.json',
    '/a/:"b"',
    '/a/',
    '/',
    '',
    '/é',
    '/a//b',
    '/:a/:a',
    String.raw`/a\:b`,
    /a/,
    ['/a'],
  ])('is left to the router for %s', (other) => expect(plainPattern(other)).toBeUndefined());
});
