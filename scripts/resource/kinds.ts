import { pascal, sentence } from './names';

/** An attribute as the command names it. */
export interface Attribute {
  name: string;
  kind: Kind;
  /** The smallest and the largest length or number. */
  min: number;
  max: number;
  /** The names of an enum. */
  options: string[];
  /** The noun of the resource that a reference names. */
  target?: string;
  nullable: boolean;
  unique: boolean;
  /** The value of an attribute that is left out. Undefined if the attribute is required. */
  fallback?: string | number | null;
}

/** The parts of the source that differ between kinds of attributes. A new kind is one entry of {@link KINDS}. */
export interface Kind {
  /** How it is written, in the list that a refusal shows. */
  usage: string;
  /** The bounds of `(min..max)`, each with its default; undefined if the kind takes none. */
  bounds?: { least: number; most: number; min: number; max?: number };
  canBeUnique: boolean;
  canBeSorted: (attribute: Attribute) => boolean;
  /** Whether `search` looks through it. */
  isText: boolean;
  /** The type in TypeScript, without `null`. */
  type: (attribute: Attribute, entity: string) => string;
  /** The decorator and the options that the DTO has besides `nullable`. */
  decorator: (attribute: Attribute, entity: string) => { name: string; first?: string; options: string[] };
  /** The options of `@Column()`, and the type in SQL. */
  column: (attribute: Attribute) => { options: string; sql: string; comment?: string };
  /** The last part of the constraint's name, and its condition. */
  check?: (attribute: Attribute) => [rule: string, condition: string] | undefined;
  /** The value that a text of the command stands for; undefined if the attribute refuses it. */
  read: (text: string, attribute: Attribute) => string | number | undefined;
  /** Different values, as JSON has them, by number. */
  example: (attribute: Attribute, index: number) => string | number;
  /** What the comment in the DTO says. */
  describe: (attribute: Attribute) => string;
  /** The values of `test/support/values.ts`. */
  values: (attribute: Attribute) => string;
}

const INT32 = 2 ** 31 - 1;
/** The longest text of `varchar`. A longer one is `text`, as that of posts. */
const VARCHAR = 2000;
/** An entry of a B-tree index has at most a third of a page: 2,700 bytes, four for a code point. */
const SORTABLE_TEXT = 500;

const always = () => true;
const never = () => false;
const human = (name: string) => name.replace(/_id$/, '').replaceAll('_', ' ');
const grouped = (number: number) => String(number).replace(/\B(?=(?:\d{3})+$)/g, '_');
const between = (name: string, { min, max }: Attribute, top: number) =>
  max < top ? `${name} BETWEEN ${min} AND ${max}` : `${name} >= ${min}`;
const lengthOf = ({ min, max }: Attribute) => [...(min > 0 ? [`min: ${min}`] : []), `max: ${max}`];

/** Within the bounds, and another one for each number. */
function exampleText({ name, min, max }: Attribute, index: number): string {
  const text = `${sentence(human(name))} ${index}`;
  return (text.length <= max ? text : String(index)).padEnd(min, '.');
}

function checkOfText({ name, min, max }: Attribute): [string, string] | undefined {
  const length = `char_length(${name})`;
  if (max <= VARCHAR) return min > 0 ? ['length', `${length} >= ${min}`] : undefined;
  return ['length', min > 0 ? `${length} BETWEEN ${min} AND ${max}` : `${length} <= ${max}`];
}

function readNumber(text: string, { min, max }: Attribute, pattern: RegExp): number | undefined {
  const number = Number(text);
  return pattern.test(text) && number >= min && number <= max ? number : undefined;
}

const anyText = {
  bounds: { least: 0, most: 50_000, min: 1 },
  isText: true,
  type: () => 'string',
  column: ({ max }: Attribute) =>
    max > VARCHAR
      ? { options: "type: 'text'", sql: 'text' }
      : { options: `type: 'varchar', length: ${max}`, sql: `varchar(${max})` },
  check: checkOfText,
  read: (text: string, { min, max }: Attribute) => {
    const { length } = [...text];
    return length >= min && length <= max && text === text.trim() ? text : undefined;
  },
  example: exampleText,
} satisfies Partial<Kind>;

const valuesOfText = ({ min, max, nullable }: Attribute, multiline: boolean) => {
  const options = [
    ...(min > 0 ? [`min: ${min}`] : []),
    `max: ${grouped(max)}`,
    ...(multiline ? ['multiline: true'] : []),
    ...(nullable ? ['nullable: true'] : []),
  ];
  return `text({ ${options.join(', ')} })`;
};
const orNull = ({ nullable }: Attribute, values: string) => (nullable ? `orNull(${values})` : values);

export const KINDS: Record<string, Kind> = {
  text: {
    ...anyText,
    usage: 'text(120) or text(3..20), on one line',
    canBeUnique: true,
    canBeSorted: ({ max }) => max <= SORTABLE_TEXT,
    decorator: (attribute) => ({ name: 'Text', options: lengthOf(attribute) }),
    describe: ({ name }) => `The ${human(name)}.`,
    values: (attribute) => valuesOfText(attribute, false),
  },
  lines: {
    ...anyText,
    usage: 'lines(2000), a text that may have several lines',
    canBeUnique: false,
    canBeSorted: never,
    decorator: (attribute) => ({ name: 'Text', options: [...lengthOf(attribute), 'multiline: true'] }),
    describe: ({ name }) => `The ${human(name)}. It may have several lines.`,
    values: (attribute) => valuesOfText(attribute, true),
  },
  email: {
    usage: 'email',
    canBeUnique: true,
    canBeSorted: always,
    isText: true,
    type: () => 'string',
    decorator: () => ({ name: 'EmailAddress', options: [] }),
    column: () => ({ options: "type: 'varchar', length: 254", sql: 'varchar(254)' }),
    read: (text) => (/^[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}$/.test(text) ? text : undefined),
    example: (_attribute, index) => `${['ada', 'grace', 'edsger', 'barbara'][index - 1] ?? `user${index}`}@example.com`,
    describe: ({ name }) => `The ${human(name)}: an e-mail address.`.replace('email: an e-mail', 'e-mail'),
    values: (attribute) => orNull(attribute, 'email'),
  },
  money: {
    usage: 'money',
    canBeUnique: false,
    canBeSorted: always,
    isText: false,
    type: () => 'number',
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
    values: (attribute) => orNull(attribute, 'money'),
  },
  whole: {
    usage: 'whole or whole(1..100), an integer',
    bounds: { least: 0, most: INT32, min: 0, max: INT32 },
    canBeUnique: true,
    canBeSorted: always,
    isText: false,
    type: () => 'number',
    decorator: ({ min, max }) => ({
      name: 'Whole',
      options: [...(min > 0 ? [`min: ${min}`] : []), ...(max < INT32 ? [`max: ${max}`] : [])],
    }),
    column: () => ({ options: "type: 'integer'", sql: 'integer' }),
    check: (attribute) => ['range', between(attribute.name, attribute, INT32)],
    read: (text, attribute) => readNumber(text, attribute, /^\d{1,10}$/),
    // Different ones also between narrow bounds.
    example: ({ min, max }, index) => min + ((9 + index) % (max - min + 1)),
    describe: ({ name }) => `The ${human(name)}.`,
    values: (attribute) =>
      orNull(
        attribute,
        `whole({ min: ${attribute.min}, max: ${attribute.max < INT32 ? attribute.max : '2 ** 31 - 1'} })`,
      ),
  },
  enum: {
    usage: 'OPEN|PAID, one of these names',
    canBeUnique: false,
    canBeSorted: always,
    isText: false,
    type: ({ name }, entity) => `${entity}${pascal(name)}`,
    decorator: ({ name }, entity) => ({ name: 'OneOf', first: `${entity}${pascal(name)}`, options: [] }),
    column: () => ({ options: "type: 'text'", sql: 'text' }),
    check: ({ name, options }) => ['known', `${name} IN (${options.map((one) => `'${one}'`).join(', ')})`],
    read: (text, { options }) => (options.includes(text) ? text : undefined),
    example: ({ options }, index) => options[(index - 1) % options.length],
    describe: ({ name }) => `The ${human(name)}.`,
    values: (attribute) => orNull(attribute, `oneOf(${attribute.options.map((one) => `'${one}'`).join(', ')})`),
  },
  reference: {
    usage: 'users, the noun of another resource, for an attribute that ends in _id',
    canBeUnique: false,
    canBeSorted: always,
    isText: false,
    type: () => 'number',
    decorator: () => ({ name: 'Id', options: [] }),
    column: () => ({ options: "type: 'bigint'", sql: 'bigint' }),
    read: () => undefined,
    example: () => 1,
    describe: ({ name }) => `The id of the ${human(name)}.`,
    values: () => '',
  },
};
