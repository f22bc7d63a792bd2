import type { Fixtures, Row } from './fixtures';
import type { Values } from './values';

/** Values of attributes that are lists or objects. See values.ts. */

const NO_LISTS = [1, true, 'text', {}];
const NO_OBJECTS = [1, true, 'text', [], [{}]];
const ofType = (values: unknown[]): [unknown, string][] => values.map((value) => [value, 'type']);
const asTheyAre = (values: unknown[]): [unknown, unknown][] => values.map((value) => [value, value]);

/** A list of different names. */
export function someOf(names: string[], { min = 1 } = {}): Values {
  return {
    taken: asTheyAre([...(min === 0 ? [[]] : []), names.slice(0, Math.max(1, min)), names, [...names].reverse()]),
    refused: [
      ...(min > 0 ? [[names.slice(0, min - 1), 'length'] as [unknown, string]] : []),
      [[...names.slice(1), names.at(-1)], 'unique'],
      [['GONE'], 'enum'],
      [[names[0].toLowerCase()], 'enum'],
      [[[names[0]]], 'enum'],
      [[null], 'enum'],
      ...ofType([...NO_LISTS, null]),
    ],
  };
}

/** A list of different texts: so many of them, each of so many code points. */
export function texts({ max, each }: { max: number; each: { min: number; max: number } }): Values {
  const different = (number: number, length = each.max) =>
    Array.from({ length: number }, (_, index) => '😀'.repeat(length - 1) + String.fromCodePoint(0x61 + index));
  return {
    taken: [
      [[], []],
      [different(max), different(max)],
      [[` ${'e\u0301'.repeat(each.min)} `], ['é'.repeat(each.min)]],
    ],
    refused: [
      [different(max + 1), 'length'],
      [different(1, each.max + 1), 'length'],
      [[' '], 'length'],
      [['a\0b'], 'characters'],
      [['a\nb'], 'characters'],
      [['a\ud800'], 'encoding'],
      [['e\u0301', 'é'], 'unique'],
      ...ofType([...NO_LISTS, null, [1], [null], [['text']], ['text', {}]]),
    ],
  };
}

/** A list of ids of another resource, e.g. `references((own) => own.product(), 20)`. */
export function references(make: (own: Fixtures) => Promise<Row>, max: number): Values {
  return {
    taken: [[[], []]],
    refused: [
      [Array.from({ length: max + 1 }, (_, index) => index + 1), 'length'],
      [[0], 'range'],
      [[2 ** 53], 'range'],
      [[1, 1], 'unique'],
      ...ofType([...NO_LISTS, null, [1.5], ['1'], [null], [[1]]]),
    ],
    make,
    isList: true,
  };
}

/** An object of any names within a number of bytes, and so many levels deep. */
export function json({ bytes, depth }: { bytes: number; depth: number }): Values {
  const long = (length: number) => ({ a: 'x'.repeat(length - '{"a":""}'.length) });
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: [deep(levels - 2)] });
  return {
    taken: asTheyAre([
      {},
      long(bytes),
      { a: deep(depth - 1) },
      { 'any name, even é and ""': [true, false, null, 'text', '\\u0000', -1.5, 1e300, 2 ** 53 - 1] },
      { b: 1, a: { $set: 1 } },
    ]),
    refused: [
      [long(bytes + 1), 'length'],
      [{ a: 'é'.repeat(bytes / 2) }, 'length'],
      [{ a: { a: deep(depth - 1) } }, 'depth'],
      [{ a: '\0' }, 'values'],
      [{ 'a\0': 1 }, 'values'],
      [{ a: ['\ud800'] }, 'values'],
      [{ a: { constructor: 1 } }, 'unknown', 'a.constructor'],
      [{ toString: 1 }, 'unknown', 'toString'],
      ...ofType([...NO_OBJECTS, null]),
    ],
  };
}

/** A nested object, or a list of them: what its class takes and refuses, with the attribute that is refused. */
export function nested({ taken, refused, list = false, nullable = false }: Nested): Values {
  return {
    taken: [...(nullable ? [[null, null] as [null, null]] : []), ...taken],
    refused: [
      ...refused,
      ...ofType(list ? [...NO_LISTS, null, [1], [null], [[]]] : NO_OBJECTS),
      ...ofType(list || nullable ? [] : [null]),
    ],
  };
}

interface Nested extends Pick<Values, 'taken' | 'refused'> {
  list?: boolean;
  nullable?: boolean;
}
