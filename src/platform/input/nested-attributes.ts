import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { MAX_ID } from '../rows/resource.entity';
import { kibibytes } from '../units';
import {
  attribute,
  type AttributeOptions,
  isList,
  isObject,
  isString,
  pureAttribute,
  type Rule,
  rule,
} from './attribute';
import { isStorableJson, nestsDeeper } from './json-values';
import { textKind, type TextOptions } from './text-attributes';

/** The greatest size of a JSON object, for the document: JSON Schema has no word for it. */
export const MAX_BYTES = 'x-max-bytes';

/** A list of nested objects, each validated by the class that `type` returns. */
export function ListOf(
  type: () => new () => object,
  { min, max, ...options }: AttributeOptions & { min: number; max: number },
) {
  return applyDecorators(
    pureAttribute(
      { name: 'type', message: 'must be a list of objects', holds: (value) => isList(value) && value.every(isObject) },
      [rule('length', `must hold ${min} to ${max} items`, isList, (list) => list.length >= min && list.length <= max)],
      // Wrapped in a new function, because @nestjs/swagger recognises a function that returns a class by the name
      // `type`.
      { type: () => type(), isArray: true, minItems: min, maxItems: max },
      options,
    ),
    ValidateNested({ each: true }),
    Type(type),
  );
}

/** A nested object, validated by the class that `type` returns, for `jsonb`. */
export function ObjectOf(type: () => new () => object, options: AttributeOptions = {}): PropertyDecorator {
  return applyDecorators(
    pureAttribute(
      { name: 'type', message: 'must be an object', holds: isObject },
      [],
      // Wrapped in a new function, because @nestjs/swagger recognises a function that returns a class by the name
      // `type`.
      { type: () => type() },
      options,
    ),
    ValidateNested(),
    Type(type),
  );
}

export interface ListOfTextsOptions extends AttributeOptions {
  /** The least number of texts. Default: 0 */
  min?: number;
  /** The greatest number of texts. */
  max: number;
  /** What is true of each text, as for `Text`. */
  each: Omit<TextOptions, 'secret' | keyof AttributeOptions>;
  /** No text may be there twice. Default: false */
  unique?: boolean;
}

/** A list of texts, each of them like an attribute of `Text`, for `text[]`. Texts of a longer list aren't processed. */
export function ListOfTexts({ min = 0, max, each, unique = false, ...options }: ListOfTextsOptions): PropertyDecorator {
  const { rules, schema, normalise } = textKind(each);
  const [length, ...others] = rules;
  const isReadable = (value: unknown): value is string[] => isListOfTexts(value) && value.length <= max;
  const number = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  // An attribute has one rule of a name, so the rule about the length is about the list and its texts.
  const size: Rule = {
    name: length.name,
    message: `must hold ${number} texts, and each ${length.message}`,
    holds: (value) => !isListOfTexts(value) || (isReadable(value) && value.length >= min && value.every(length.holds)),
  };
  const define = each.also ? attribute : pureAttribute;
  return define(
    { name: 'type', message: 'must be a list of strings', holds: isListOfTexts },
    [
      size,
      ...others.map(({ name, message, holds }) =>
        rule(name, `each ${message}`, isReadable, (list) => list.every(holds)),
      ),
      ...(unique
        ? [rule('unique', 'must hold each text once', isReadable, (list) => new Set(list).size === list.length)]
        : []),
    ],
    {
      type: 'array',
      items: { type: 'string', ...schema },
      minItems: min,
      maxItems: max,
      uniqueItems: unique || undefined,
    },
    options,
    (value) => (isReadable(value) ? value.map(normalise) : value),
  );
}

/** A list of different ids of resources, for `bigint[]`; `linkRows` of a migration keeps them true. */
export function ListOfIds({ max, ...options }: AttributeOptions & { max: number }): PropertyDecorator {
  const isReadable = (value: unknown): value is number[] => isListOfIntegers(value) && value.length <= max;
  return pureAttribute(
    { name: 'type', message: 'must be a list of ids', holds: isListOfIntegers },
    [
      rule('length', `must hold at most ${max} ids`, isListOfIntegers, (list) => list.length <= max),
      rule('range', `must hold only numbers from 1 to ${MAX_ID}`, isReadable, (list) => list.every(isId)),
      rule('unique', 'must hold each id once', isReadable, (list) => new Set(list).size === list.length),
    ],
    {
      type: 'array',
      items: { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID },
      minItems: 0,
      maxItems: max,
      uniqueItems: true,
    },
    options,
  );
}

const isListOfIntegers = (value: unknown): value is number[] => isList(value) && value.every(Number.isInteger);
const isId = (id: number): boolean => id >= 1 && id <= MAX_ID;

const isListOfTexts = (value: unknown): value is string[] => isList(value) && value.every(isString);

export interface JsonObjectOptions extends AttributeOptions {
  /** The greatest size of its JSON text in bytes. Default: 8 KiB */
  maxBytes?: number;
  /** The greatest number of objects and lists within each other, itself among them. Default: 5 */
  maxDepth?: number;
}

/**
 * An object of any names and values, for `jsonb`. Names that each object of JavaScript has, such as `constructor`, are refused
 * everywhere in a body.
 */
export function JsonObject({
  maxBytes = kibibytes(8),
  maxDepth = 5,
  ...options
}: JsonObjectOptions = {}): PropertyDecorator {
  const isShallow = (value: unknown): value is object => isObject(value) && !nestsDeeper(value, maxDepth);
  return pureAttribute(
    { name: 'type', message: 'must be an object', holds: isObject },
    [
      rule('depth', `must not nest deeper than ${maxDepth} levels`, isObject, isShallow),
      rule('length', `must have at most ${maxBytes} bytes`, isShallow, (value) => bytesOf(value) <= maxBytes),
      rule('values', 'must hold only numbers and texts that a database can store', isShallow, isStorableJson),
    ],
    { type: 'object', additionalProperties: true, [MAX_BYTES]: maxBytes } as ApiPropertyOptions,
    options,
  );
}

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));
