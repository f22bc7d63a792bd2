import { ApiProperty } from '@nestjs/swagger';
import { type AttributeOptions, isList, pureAttribute, rule } from './attribute';

export { JsonObject, ListOf, ListOfIds, ListOfTexts, ObjectOf } from './nested-attributes';
export { BigInteger, Decimal, Id, Money, Whole } from './number-attributes';
export { EmailAddress, Text, type TextOptions, WebAddress } from './text-attributes';
export { DateOnly, Flag, Moment, Uuid } from './value-attributes';

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

/** A list of different names. Default of `min`: 1 */
export function SomeOf(
  names: readonly string[] | Record<string, string>,
  { min = 1, ...options }: AttributeOptions & { min?: number } = {},
): PropertyDecorator {
  const allowed = Object.values(names);
  const message = min <= 1 ? 'must not be empty' : `must hold at least ${min} names`;
  return pureAttribute(
    { name: 'type', message: 'must be a list', holds: isList },
    [
      rule('enum', `must hold only ${allowed.join(', ')}`, isList, (list) =>
        list.every((name) => allowed.includes(name as string)),
      ),
      rule('length', message, isList, (list) => list.length >= min),
      rule('unique', 'must hold each name once', isList, (list) => new Set(list).size === list.length),
    ],
    { type: String, enum: allowed, isArray: true, minItems: min, maxItems: allowed.length, uniqueItems: true },
    options,
  );
}

/** A time that the service sets: ISO 8601 in UTC with milliseconds. It is never part of an input. */
export function Timestamp(): PropertyDecorator {
  const example = '2026-01-31T12:00:00.000Z';
  return ApiProperty({ type: String, format: 'date-time', maxLength: example.length, example });
}
