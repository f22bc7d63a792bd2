import { applyDecorators } from '@nestjs/common';
import { isString, pureAttribute } from '../input/attribute';
import { type Compared, Comparison, isOneOf, type Operator } from '../input/comparison';
import { attributesOf, type DtoClass } from '../input/fields';
import { DECIMALS, isReference } from '../input/number-attributes';
import {
  booleanKind,
  dateKind,
  decimalKind,
  enumKind,
  idsKind,
  integerKind,
  momentKind,
  type ParameterKind,
  uuidKind,
} from '../input/parameter-kinds';
import { Repeatable } from '../input/repeatable';
import { momentText } from '../text/moment-text';

/** The metadata key under which @nestjs/swagger keeps the documentation of an attribute. */
const SWAGGER_PROPERTY = 'swagger/apiModelProperties';

type Value = string | number | boolean | number[];

const BOUNDS: [part: string, operator: Operator, words: string][] = [
  ['gt', '>', 'greater than this'],
  ['gte', '>=', 'this or greater'],
  ['lt', '<', 'less than this'],
  ['lte', '<=', 'this or less'],
];

/** Parameters of every list. An attribute of the same name can't be compared by them. */
const TAKEN = [
  ...['page', 'cursor', 'size', 'limit', 'total', 'sort', 'sortBy', 'order'],
  ...['search', 'ids', 'updated_since', 'fields', 'include'],
];

interface Documented {
  type?: unknown;
  format?: string;
  enum?: string[];
  isArray?: boolean;
  minimum?: number;
  maximum?: number;
  nullable?: boolean;
  [DECIMALS]?: number;
}

/** How an attribute can be compared: with one value, or with bounds; not at all if both are undefined. */
interface Comparable {
  equal?: ParameterKind<Value>;
  bounds?: ParameterKind<Value>;
  nullable: boolean;
}

/**
 * Gives the class of a list's query a parameter for each comparison of these attributes of `item`. Ids are compared with some ids;
 * enums, booleans and UUIDs with one value; numbers, days and moments with bounds; all that may be null also with null.
 * @throws {Error} for an attribute that can't be compared
 */
export function declareFilters(query: DtoClass, item: DtoClass, attributes: readonly string[]): void {
  for (const name of attributes) {
    const { equal, bounds, nullable } = comparableOf(item, name);
    if (!equal && !bounds && !nullable) throw notComparable(item, name);
    if (equal && TAKEN.includes(name)) throw new Error(`${item.name} has ${name}, which is a parameter of each list`);
    const declare = (parameter: string, kind: ParameterKind<Value>, words: string, comparison: Compare) =>
      compares(parameter, name, kind, words, comparison)(query.prototype as object, parameter);
    if (equal) declare(name, equal, equalWords(name, equal), equals);
    if (equal === idsKind) Repeatable()(query.prototype as object, name);
    for (const [part, operator, words] of bounds ? BOUNDS : []) {
      declare(`${name}[${part}]`, bounds!, `Only items whose \`${name}\` is ${words}.`, (value) => [operator, value]);
    }
    if (nullable)
      declare(`${name}[null]`, booleanKind, nullWords(name), (value) => [value ? 'IS NULL' : 'IS NOT NULL']);
  }
}

const equals: Compare = (value) => (Array.isArray(value) ? isOneOf(value) : ['=', value]);

const equalWords = (name: string, kind: ParameterKind<Value>): string =>
  kind === idsKind ? `Only items with one of these ids as \`${name}\`.` : `Only items with this \`${name}\`.`;

const nullWords = (name: string): string => `True for items whose \`${name}\` is null, false for the others.`;

/** The names of an enum, for a list that is filtered by it. */
export const namesOf = (item: DtoClass, name: string): string[] | undefined => documented(item, name).enum;

type Compare = (value: Value) => Compared;

/** Declares an optional parameter that compares an attribute with its value. */
export function compares(
  parameter: string,
  attribute: string,
  { name, message, schema, parse }: ParameterKind<Value>,
  description: string,
  compare: Compare,
): PropertyDecorator {
  const read = (text: string) => {
    const value = parse(text);
    return value === undefined ? text : new Comparison(parameter, attribute, ...compare(value));
  };
  const holds = (value: unknown) => value instanceof Comparison;
  const documentation = { ...schema, description };
  return applyDecorators(
    // A second ValidationPipe with enableImplicitConversion converts values to this type.
    Reflect.metadata('design:type', Comparison),
    pureAttribute({ name, message, holds }, [], documentation, { optional: true }, (value) =>
      isString(value) ? read(value) : value,
    ),
  );
}

function comparableOf(item: DtoClass, name: string): Comparable {
  const attribute = documented(item, name);
  const { type, format, enum: names, isArray, minimum: min, maximum: max, nullable = false } = attribute;
  if (!attributesOf(item).includes(name)) return { nullable: false };
  if (isArray) return { nullable };
  if (isReference(item.prototype as object, name)) return { equal: idsKind, nullable };
  if (names) return { equal: enumKind(names), nullable };
  if (type === Boolean) return { equal: booleanKind, nullable };
  if (format === 'uuid') return { equal: uuidKind, nullable };
  if (format === 'date') return { bounds: dateKind, nullable };
  if (format === 'date-time') return { bounds: momentsAsTexts, nullable };
  if (min === undefined || max === undefined) return { nullable };
  if (type === 'integer') return { bounds: integerKind({ min, max, format }), nullable };
  return { bounds: decimalKind({ min, max, decimals: attribute[DECIMALS] ?? 2 }), nullable };
}

/** Moments as PostgreSQL compares them. */
export const momentsAsTexts: ParameterKind<string> = {
  ...momentKind,
  parse: (text) => {
    const moment = momentKind.parse(text);
    return moment && momentText(moment);
  },
};

function documented(item: DtoClass, name: string): Documented {
  return (Reflect.getMetadata(SWAGGER_PROPERTY, item.prototype as object, name) ?? {}) as Documented;
}

function notComparable(item: DtoClass, name: string): Error {
  return new Error(
    `A list is filterable by ${name}, which ${item.name} doesn't show, or which is neither an id, a name of an enum, a boolean, ` +
      'a UUID, a number with bounds, a day or a moment, nor may be null',
  );
}
