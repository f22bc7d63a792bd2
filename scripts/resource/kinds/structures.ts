import { pascal, singularOf } from '../names';
import { type Attribute, argumentOf, human, type Json, type Kind, never, quotedNames } from './kind';
import { exampleText, lengthOf, readText } from './texts';

/** The length of a list if the command names none. */
export const USUAL_ITEMS = 20;
export const MOST_ITEMS = 100;
const USUAL_BYTES = 8192;

/** A list is empty if a body leaves it out. */
const aList = { fallback: [], canBeNull: false, canBeSorted: never } satisfies Partial<Kind>;
const jsonb = () => ({ options: "type: 'jsonb'", sql: 'jsonb' });
const bound = ({ name, items }: Attribute): [string, string] => ['length', `cardinality(${name}) <= ${items}`];
const typed =
  (type: string) =>
  ({ name }: Attribute): [string, string] => ['type', `jsonb_typeof(${name}) = '${type}'`];

/** The class of a nested object: `InvoiceAddressDto`, `InvoiceLineDto` for `lines`. */
export function nestedClassOf({ name, kind }: Attribute, entity: string): string {
  const one = kind === STRUCTURES.objects ? (singularOf(name.replaceAll('_', '-')) ?? name) : name;
  return `${entity}${pascal(one)}Dto`;
}

export const STRUCTURES: Record<string, Kind> = {
  texts: {
    ...aList,
    usage: 'text(20)[] or text(20)[5], a list of at most 20 or 5 different texts',
    bounds: { least: 0, most: 500, min: 1 },
    type: () => 'string[]',
    decorator: (attribute) => ({
      name: 'ListOfTexts',
      options: [`max: ${attribute.items}`, `each: { ${lengthOf(attribute).join(', ')} }`, 'unique: true'],
    }),
    column: () => ({ options: "type: 'text', array: true", sql: 'text[]' }),
    check: bound,
    // PostgreSQL writes others in quotes, which TypeORM doesn't expect.
    read: (text, attribute) =>
      listOf(text, attribute.items, (one) => (/^[\w-]+$/.test(one) ? readText(one, attribute) : undefined)),
    example: (attribute, index) => [exampleText({ ...attribute, name: singularName(attribute) }, index)],
    describe: ({ name }) => `The ${human(name)}.`,
    values: ({ items, min, max }) => `texts({ max: ${items}, each: { min: ${min}, max: ${max} } })`,
  },
  names: {
    ...aList,
    usage: 'SHOW|LOAN[], a list of different names of these',
    type: ({ name }, entity) => `${entity}${pascal(singularName({ name }))}[]`,
    decorator: ({ name }, entity) => ({
      name: 'SomeOf',
      first: `${entity}${pascal(singularName({ name }))}`,
      options: ['min: 0'],
    }),
    column: () => ({ options: "type: 'text', array: true", sql: 'text[]' }),
    check: ({ name, options }) => ['known', `${name} <@ ARRAY[${quotedNames(options)}]`],
    read: (text, { options }) => listOf(text, options.length, (one) => (options.includes(one) ? one : undefined)),
    example: ({ options }, index) => [options[(index - 1) % options.length]],
    describe: ({ name }) => `The ${human(name)}.`,
    values: ({ options }) => `someOf([${quotedNames(options)}], { min: 0 })`,
  },
  references: {
    ...aList,
    usage: 'tags[] or tags[5], ids of another resource, for an attribute that ends in _ids',
    type: () => 'number[]',
    decorator: ({ items }) => ({ name: 'ListOfIds', options: [`max: ${items}`] }),
    column: () => ({ options: "type: 'bigint', array: true", sql: 'bigint[]' }),
    check: bound,
    example: () => [1],
    describe: ({ name }) => `The ids of the ${human(name)}s.`,
    values: () => '',
  },
  json: {
    usage: 'json or json(2000), an object of any names of at most so many bytes',
    bounds: { least: 2, most: 65_536, min: 2, max: USUAL_BYTES },
    fallback: {},
    canBeNull: false,
    canBeSorted: never,
    type: () => 'object',
    decorator: ({ max }) => ({ name: 'JsonObject', options: max === USUAL_BYTES ? [] : [`maxBytes: ${max}`] }),
    column: jsonb,
    check: typed('object'),
    example: (_attribute, index) => ({ note: `Anything ${index}` }),
    describe: ({ name }) => `The ${human(name)}: an object of any names.`,
    values: ({ max }) => `json({ bytes: ${max}, depth: 5 })`,
  },
  object: {
    usage: '{street:text(80),floor:whole?}, an object of these attributes',
    canBeSorted: never,
    type: (attribute, entity) => nestedClassOf(attribute, entity),
    columnType: 'object',
    decorator: (attribute, entity) => ({
      name: 'ObjectOf',
      first: `() => ${nestedClassOf(attribute, entity)}`,
      options: [],
    }),
    column: jsonb,
    check: typed('object'),
    example: ({ attributes }, index) => exampleObject(attributes, index),
    describe: ({ name }) => `The ${human(name)}.`,
    values: ({ attributes, nullable }) => nestedValues(attributes, { nullable }),
  },
  objects: {
    ...aList,
    usage: '{name:text(20)}[] or {name:text(20)}[5], a list of such objects',
    type: (attribute, entity) => `${nestedClassOf(attribute, entity)}[]`,
    columnType: 'object[]',
    decorator: (attribute, entity) => ({
      name: 'ListOf',
      first: `() => ${nestedClassOf(attribute, entity)}`,
      options: ['min: 0', `max: ${attribute.items}`],
    }),
    column: jsonb,
    check: typed('array'),
    example: ({ attributes }, index) => [exampleObject(attributes, index)],
    describe: ({ name }) => `The ${human(name)}.`,
    values: ({ attributes, items }) => nestedValues(attributes, { items }),
  },
};

/** The name of one item: `label` for `labels`. */
export const singularName = ({ name }: Pick<Attribute, 'name'>): string =>
  (singularOf(name.replaceAll('_', '-')) ?? name).replaceAll('-', '_');

/** The values of a default such as `A|B`. An empty text is the empty list. */
function listOf(text: string, most: number, read: (one: string) => string | undefined): string[] | undefined {
  const items = text === '' ? [] : text.split('|').map(read);
  const known = items.filter((one) => one !== undefined);
  return known.length === items.length && items.length <= most && new Set(items).size === items.length
    ? known
    : undefined;
}

const exampleObject = (attributes: Attribute[], index: number): Json =>
  Object.fromEntries(attributes.map((one) => [one.name, one.kind.example(one, index)]));

/** Whole objects, and what is wrong with others. */
function nestedValues(attributes: Attribute[], { items, nullable }: { items?: number; nullable?: boolean }): string {
  const whole = exampleObject(attributes, 1) as Record<string, Json>;
  const required = attributes.filter(({ fallback }) => fallback === undefined).map(({ name }) => name);
  const at = items === undefined ? '' : '0.';
  const put = (object: Json): Json => (items === undefined ? object : [object]);
  const taken = [...(items === undefined ? [] : [[]]), put(whole), put(exampleObject(attributes, 2))];
  const refused = [
    ...required.slice(0, 1).map((name) => [put(omit(whole, name)), 'required', at + name]),
    [put({ ...whole, colour: 'red' }), 'unknown', `${at}colour`],
  ];
  const code = (value: Json) => JSON.stringify(value);
  const options = [
    `taken: [${taken.map((value) => `[${code(value)}, ${code(value)}]`).join(', ')}]`,
    `refused: [${[...refused.map((one) => code(one as Json)), ...(items === undefined ? [] : [`[Array(${items + 1}).fill(${code(whole)}), 'length']`])].join(', ')}]`,
    ...(items === undefined ? [] : ['list: true']),
    ...(nullable ? ['nullable: true'] : []),
  ];
  return `nested(${argumentOf(options)})`;
}

function omit(object: Record<string, Json>, name: string): Record<string, Json> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
