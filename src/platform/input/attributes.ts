import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { type AttributeOptions, isNumber, isObject, pureAttribute, rule } from './attribute';

export { EmailAddress, Text, type TextOptions } from './text-attributes';

const MAX_MONEY = 9_999_999_999.99;
const MAX_INT32 = 2 ** 31 - 1;

/** An integer. Default bounds: 0 and the greatest value of the database type `integer` */
export function Whole({
  min = 0,
  max = MAX_INT32,
  ...options
}: AttributeOptions & { min?: number; max?: number } = {}) {
  return pureAttribute(
    { name: 'type', message: 'must be an integer', holds: Number.isInteger },
    [rule('range', `must be from ${min} to ${max}`, isNumber, (number) => number >= min && number <= max)],
    { type: 'integer', format: max > MAX_INT32 ? 'int64' : 'int32', minimum: min, maximum: max },
    options,
  );
}

/** The id of a resource. */
export function Id(options: AttributeOptions = {}): PropertyDecorator {
  return pureAttribute(
    { name: 'type', message: 'must be an integer', holds: Number.isInteger },
    [
      rule(
        'range',
        `must be from 1 to ${Number.MAX_SAFE_INTEGER}`,
        isNumber,
        (id) => id > 0 && id <= Number.MAX_SAFE_INTEGER,
      ),
    ],
    { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    options,
  );
}

/** An amount of money with at most two decimals, for `numeric(12,2)`. */
export function Money(options: AttributeOptions = {}): PropertyDecorator {
  return pureAttribute(
    { name: 'type', message: 'must be a number', holds: Number.isFinite },
    [
      rule('range', `must be from 0 to ${MAX_MONEY}`, isNumber, (amount) => amount >= 0 && amount <= MAX_MONEY),
      // String() gives the shortest decimal that has this value, which is what the client wrote.
      rule('decimals', 'must have at most two decimals', isNumber, (amount) =>
        /^\d+(\.\d{1,2})?$/.test(String(Math.abs(amount))),
      ),
    ],
    { type: 'number', minimum: 0, maximum: MAX_MONEY },
    options,
  );
}

/** One of a list of names. */
export function OneOf(
  names: readonly string[] | Record<string, string>,
  options: AttributeOptions = {},
): PropertyDecorator {
  const allowed = Object.values(names);
  return pureAttribute(
    {
      name: 'enum',
      message: `must be one of ${allowed.join(', ')}`,
      holds: (value) => allowed.includes(value as string),
    },
    [],
    { type: String, enum: allowed },
    options,
  );
}

/** A list of different names. */
export function SomeOf(names: Record<string, string>, options: AttributeOptions = {}): PropertyDecorator {
  const allowed = Object.values(names);
  const isList = (value: unknown): value is unknown[] => Array.isArray(value);
  return pureAttribute(
    { name: 'type', message: 'must be a list', holds: isList },
    [
      rule('enum', `must hold only ${allowed.join(', ')}`, isList, (list) =>
        list.every((name) => allowed.includes(name as string)),
      ),
      rule('length', 'must not be empty', isList, (list) => list.length > 0),
      rule('unique', 'must hold each name once', isList, (list) => new Set(list).size === list.length),
    ],
    { type: String, enum: allowed, isArray: true, minItems: 1, maxItems: allowed.length, uniqueItems: true },
    options,
  );
}

/** A list of nested objects, each validated by the class that `type` returns. */
export function ListOf(
  type: () => new () => object,
  { min, max, ...options }: AttributeOptions & { min: number; max: number },
) {
  const isList = (value: unknown): value is unknown[] => Array.isArray(value);
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

/** A time that the service sets: ISO 8601 in UTC with milliseconds. It is never part of an input. */
export function Timestamp(): PropertyDecorator {
  const example = '2026-01-31T12:00:00.000Z';
  return ApiProperty({ type: String, format: 'date-time', maxLength: example.length, readOnly: true, example });
}
