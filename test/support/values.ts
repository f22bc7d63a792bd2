import type { Fixtures, Row } from './fixtures';

/** Values of attributes for tests of all resources: for each kind the limits of what is accepted. */

/** Accepted values with what is stored, and refused values with the violated rule. */
export interface Values {
  taken: [sent: unknown, stored: unknown][];
  /** The third is the refused attribute within a nested object, such as `0.name`. */
  refused: [sent: unknown, rule: string, within?: string][];
  /** It is never sent to callers. */
  secret?: boolean;
  /** Inserts rows whose ids are accepted values; see {@link reference}. */
  make?: (own: Fixtures) => Promise<Row>;
  /** The column of these rows whose values are accepted. Default: id */
  by?: string;
  /** Whether the value is a list of these ids. */
  isList?: boolean;
  /** Another accepted value for each index, as it is stored. A unique attribute that may be null needs it. */
  fresh?: (index: number) => unknown;
}

/** The id of another resource, e.g. `reference((own) => own.product())`. */
export function reference(make: (own: Fixtures) => Promise<Row>): Values {
  const others = ['1', null, true, [1], {}, 1.5].map((value): [unknown, string] => [value, 'type']);
  return { taken: [], refused: [...others, [0, 'range'], [-1, 'range'], [2 ** 53, 'range']], make };
}

/** The same values with ids of new rows. */
export async function withRows(values: Values, own: Fixtures): Promise<Values> {
  if (!values.make) return values;
  const rows = [await values.make(own), await values.make(own)];
  const ids = rows.map((row) => row[values.by ?? 'id']);
  const sent = values.isList ? [[ids[0]], [...ids].reverse()] : ids;
  return { ...values, taken: [...values.taken, ...sent.map((value): [unknown, unknown] => [value, value])] };
}

/** The same values of an attribute that may also be null. */
export function orNull({ taken, refused, ...others }: Values): Values {
  return { ...others, taken: [...taken, [null, null]], refused: refused.filter(([sent]) => sent !== null) };
}

interface TextLimits {
  /** Code points. Default: 0 */
  min?: number;
  max: number;
  multiline?: boolean;
  nullable?: boolean;
}

/** The greatest number of marks in a row, in an order that normalising changes. */
const MARKS = '\u0301\u0316'.repeat(15);
const NOT_STRINGS = [1, true, {}, ['text']];

export function text({ min = 0, max, multiline = false, nullable = false }: TextLimits): Values {
  const long = 'x'.repeat(min);
  const hasRoom = max > min + MARKS.length;
  return {
    taken: [
      ['😀'.repeat(max), '😀'.repeat(max)],
      ['e\u0301'.repeat(max), 'é'.repeat(max)],
      [` \u2003${long}y\u00a0 `, `${long}y`],
      [long, long],
      ...(hasRoom ? [[`${long}q${MARKS}`, `${long}q${MARKS}`.normalize('NFC')] as [string, string]] : []),
      ...(multiline ? [['a\r\n\tb <&>', 'a\n\tb <&>'] as [string, string]] : []),
      ...(nullable ? [[null, null] as [null, null]] : []),
    ],
    refused: [
      ['😀'.repeat(max + 1), 'length'],
      ...(min > 0 ? [[' '.repeat(min), 'length'] as [string, string]] : []),
      ...(min > 1 ? [['x'.repeat(min - 1), 'length'] as [string, string]] : []),
      [`${long}\0y`, 'characters'],
      [`${long}\ud800`, 'encoding'],
      ...(hasRoom ? [[`${long}${MARKS}\u0301`, 'marks'] as [string, string]] : []),
      ...(multiline ? [] : [[`x${long}\ny`, 'characters'] as [string, string]]),
      ...[...NOT_STRINGS, ...(nullable ? [] : [null])].map((value): [unknown, string] => [value, 'type']),
    ],
    fresh: (index) => String(1_000 + index).padStart(min, '0'),
  };
}

/** Texts with a pattern of their own. A unique one that may be null takes `fresh`. */
export function form({
  taken,
  refused,
  fresh,
}: Pick<Values, 'fresh'> & { taken: string[]; refused: string[] }): Values {
  return {
    fresh,
    taken: taken.map((value) => [value, value]),
    refused: [
      ...refused.map((value): [unknown, string] => [value, 'pattern']),
      ...[...NOT_STRINGS, null].map((value): [unknown, string] => [value, 'type']),
    ],
  };
}

export const money: Values = {
  taken: [0, 0.01, 0.1, 19.99, 1e2, 9_999_999_999.99].map((amount) => [amount, amount]),
  refused: [
    [-0.01, 'range'],
    [10_000_000_000, 'range'],
    [0.1 + 0.2, 'decimals'],
    [0.001, 'decimals'],
    [1e-7, 'decimals'],
    [9_999_999_999.985, 'decimals'],
    ...['1', null, true, [1], {}].map((value): [unknown, string] => [value, 'type']),
  ],
  fresh: (index) => 1_000 + index / 4,
};

export function whole({ min, max }: { min: number; max: number }): Values {
  return {
    taken: [min, min + 1, max].map((number) => [number, number]),
    refused: [
      ...[min - 1, max + 1, 2 ** 31, -(2 ** 31), 2 ** 53, 1e300].map((value): [unknown, string] => [value, 'range']),
      ...[min + 0.5, String(min), null, true, [min], {}].map((value): [unknown, string] => [value, 'type']),
    ],
    fresh: (index) => min + 2 + index,
  };
}

export const bigInteger: Values = {
  taken: [-(2 ** 53) + 1, 0, 2 ** 31, 2 ** 53 - 1].map((number) => [number, number]),
  refused: [
    ...[-(2 ** 53), 2 ** 53, 2 ** 63, 1e300].map((value): [unknown, string] => [value, 'range']),
    ...[0.5, '1', null, true, [1], {}].map((value): [unknown, string] => [value, 'type']),
  ],
  fresh: (index) => 2 ** 40 + index,
};

/** The bounds are texts, as they are in SQL. */
export function decimal({ least, greatest, decimals }: { least: string; greatest: string; decimals: number }): Values {
  const smallest = Number(`1e-${decimals}`);
  return {
    taken: [Number(least), -smallest, 0, smallest, 1e2, Number(greatest)]
      .filter((number) => number >= Number(least) && number <= Number(greatest))
      .map((number) => [number, number]),
    refused: [
      ...[Number(least) - 1, Number(greatest) + 1, 1e300].map((value): [unknown, string] => [value, 'range']),
      ...[smallest / 10, smallest * 1.5, 0.1 + 0.2, 1e-7].map((value): [unknown, string] => [value, 'decimals']),
      ...['1', null, true, [1], {}].map((value): [unknown, string] => [value, 'type']),
    ],
    // In steps of the last decimal, as a column may hold nothing but decimals.
    fresh: (index) => Number(((index + 2) * smallest).toFixed(decimals)),
  };
}

export const flag: Values = {
  taken: [false, true].map((value) => [value, value]),
  refused: ['true', 'false', 0, 1, '', null, [true], {}].map((value) => [value, 'type']),
};

/** The same values, and null. */
export function optionally(values: Values): Values {
  const refused = values.refused.filter(([sent]) => sent !== null);
  return { ...values, taken: [[null, null], ...values.taken], refused };
}

export function oneOf(...names: string[]): Values {
  const others = ['GONE', names[0].toLowerCase(), '', null, 1, true, [names[0]], {}];
  return { taken: names.map((name) => [name, name]), refused: others.map((value) => [value, 'enum']) };
}

const at = (local: number, domain: number) => `${'a'.repeat(local)}@${'b'.repeat(domain)}.example.com`;
export const email: Values = {
  taken: ['Some.One+tag@example.com', at(64, 63), ` ${at(1, 1)} `].map((address) => [address, address.trim()]),
  refused: [
    ...['', 'a', 'a@', '@b.de', 'a b@c.de', 'a@b', at(65, 1)].map((value): [unknown, string] => [value, 'email']),
    ...[...NOT_STRINGS, null].map((value): [unknown, string] => [value, 'type']),
  ],
  fresh: (index) => `someone${index}@example.com`,
};

export const password: Values = {
  secret: true,
  taken: ['😀'.repeat(8), ' '.repeat(127) + 'x'].map((value) => [value, undefined]),
  refused: [
    ['😀'.repeat(7), 'length'],
    ['x'.repeat(129), 'length'],
    [' '.repeat(8), 'blank'],
    ...[...NOT_STRINGS, null].map((value): [unknown, string] => [value, 'type']),
  ],
};

export const roles: Values = {
  taken: [['USER'], ['ADMIN'], ['USER', 'ADMIN']].map((list) => [list, list]),
  refused: [
    [[], 'length'],
    [['USER', 'USER'], 'unique'],
    [['ROOT'], 'enum'],
    ['USER', 'type'],
    [null, 'type'],
  ],
};

/** The key of a picture, or null. */
export const imageKey: Values = {
  taken: [[null, null]],
  refused: [
    ...['', 'x', '3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c1', '3f0c6a2e8f554b539a0e0d1f6f5a7c11'].map(
      (value): [unknown, string] => [value, 'uuid'],
    ),
    ['3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11', 'fkey'],
    ...NOT_STRINGS.map((value): [unknown, string] => [value, 'type']),
  ],
  make: (own) => own.picture(),
  by: 'key',
};
