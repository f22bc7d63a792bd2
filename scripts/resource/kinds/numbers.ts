import { always, type Attribute, grouped, human, type Kind, optionally } from './kind';

const INT32 = 2 ** 31 - 1;
/** JSON numbers are exact up to it. */
const INT53 = Number.MAX_SAFE_INTEGER;
/** A double represents this many decimal digits exactly. */
const MAX_PRECISION = 15;

const anyNumber = {
  canBeSorted: always,
  canBeFiltered: true,
  canBeNested: true,
  type: () => 'number',
  describe: ({ name }: Attribute) => `The ${human(name)}.`,
} satisfies Partial<Kind>;

const boundsOf = ({ min, max }: Attribute, least: number, most: number) => [
  ...(min === least ? [] : [`min: ${min}`]),
  ...(max === most ? [] : [`max: ${max}`]),
];

const between = ({ name, min, max }: Attribute, top: number) =>
  max < top || min < 0 ? `${name} BETWEEN ${min} AND ${max}` : `${name} >= ${min}`;

const readInteger = (text: string, { min, max }: Attribute) => {
  const number = Number(text);
  return /^-?\d{1,16}$/.test(text) && number >= min && number <= max ? number : undefined;
};

const greatest = ({ max, scale }: Attribute) => `${'9'.repeat(max - scale) || '0'}.${'9'.repeat(scale)}`;

export const NUMBERS: Record<string, Kind> = {
  whole: {
    ...anyNumber,
    usage: 'whole, whole(1..100) or whole(-20..20), an integer of 32 bits',
    bounds: { least: -INT32 - 1, most: INT32, min: 0, max: INT32 },
    canBeUnique: true,
    decorator: (attribute) => ({ name: 'Whole', options: boundsOf(attribute, 0, INT32) }),
    column: () => ({ options: "type: 'integer'", sql: 'integer' }),
    check: (attribute) => ['range', between(attribute, INT32)],
    read: readInteger,
    // Different ones also between narrow bounds.
    example: ({ min, max }, index) => Math.max(min, 0) + ((9 + index) % (max - Math.max(min, 0) + 1)),
    values: (attribute) =>
      optionally(
        attribute,
        `whole({ min: ${attribute.min}, max: ${attribute.max < INT32 ? attribute.max : '2 ** 31 - 1'} })`,
      ),
  },
  bigint: {
    ...anyNumber,
    usage: 'bigint, an integer of at most 2^53 - 1, with and without a sign',
    decorator: () => ({ name: 'BigInteger', options: [] }),
    column: () => ({ options: "type: 'bigint'", sql: 'bigint' }),
    check: ({ name }) => ['range', `${name} BETWEEN -${INT53} AND ${INT53}`],
    read: (text, attribute) => readInteger(text, { ...attribute, min: -INT53, max: INT53 }),
    example: (_attribute, index) => 5_000_000_000 + index,
    values: (attribute) => optionally(attribute, 'bigInteger'),
  },
  decimal: {
    ...anyNumber,
    usage: 'decimal(9,3), at most 9 digits, 3 of them decimals',
    bounds: { least: 1, most: MAX_PRECISION, min: 1 },
    hasScale: true,
    decorator: ({ max, scale }) => ({ name: 'Decimal', options: [`precision: ${max}`, `scale: ${scale}`] }),
    column: ({ max, scale }) => ({
      options: `type: 'numeric', precision: ${max}, scale: ${scale}`,
      sql: `numeric(${max},${scale})`,
    }),
    read: (text, { max, scale }) =>
      new RegExp(`^-?\\d{1,${Math.max(max - scale, 1)}}(?:\\.\\d{1,${scale}})?$`).test(text) &&
      (max > scale || Math.abs(Number(text)) < 1) &&
      !String(Number(text)).includes('e')
        ? Number(text)
        : undefined,
    example: ({ max, scale }, index) => Number(`${max > scale ? index : 0}.5`),
    values: (attribute) =>
      optionally(
        attribute,
        `decimal({ least: '-${greatest(attribute)}', greatest: '${greatest(attribute)}', decimals: ${attribute.scale} })`,
      ),
  },
  money: {
    ...anyNumber,
    usage: 'money, with at most two decimals and not below 0',
    decorator: () => ({ name: 'Money', options: [] }),
    column: () => ({
      options: "type: 'numeric', precision: 12, scale: 2",
      sql: 'numeric(12,2)',
      comment: 'An exact numeric, never a float.',
    }),
    check: ({ name }) => ['range', `${name} >= 0`],
    read: (text) => (/^\d{1,10}(?:\.\d{1,2})?$/.test(text) ? Number(text) : undefined),
    example: (_attribute, index) => [9.95, 8.5, 20][index - 1] ?? 20 + index,
    describe: ({ name }) => `The ${human(name)}, with at most two decimals.`,
    values: (attribute) => optionally(attribute, 'money'),
  },
};

export const numberLiteral = (number: number): string => (number >= 10_000 ? grouped(number) : String(number));
