import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { type AttributeOptions, isNumber, pureAttribute, type Rule, rule } from './attribute';

const MAX_MONEY = 9_999_999_999.99;
const MAX_INT32 = 2 ** 31 - 1;
/** A double represents this many decimal digits exactly. */
const MAX_PRECISION = 15;
/** Marks the attributes that are ids, of which a list compares only whether they are equal. */
const IS_REFERENCE = 'resource-api:reference';
/** The number of decimals in the document: `multipleOf` would be wrong, as 9.95 is no multiple of the double 0.01. */
export const DECIMALS = 'x-decimals';

interface Bounds {
  min?: number;
  max?: number;
}

/** An integer. Default bounds: 0 and the greatest value of the database type `integer` */
export function Whole({ min = 0, max = MAX_INT32, ...options }: AttributeOptions & Bounds = {}): PropertyDecorator {
  const isLong = max > MAX_INT32 || min < -MAX_INT32 - 1;
  return pureAttribute(
    { name: 'type', message: 'must be an integer', holds: Number.isInteger },
    [range(min, max)],
    { type: 'integer', format: isLong ? 'int64' : 'int32', minimum: min, maximum: max },
    options,
  );
}

/** An integer of the database type `bigint`. Default bounds: those within which JSON numbers are exact, 2^53 - 1 */
export function BigInteger({
  min = -Number.MAX_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
  ...options
}: AttributeOptions & Bounds = {}): PropertyDecorator {
  return Whole({ min, max, ...options });
}

/** The id of a resource. */
export function Id(options: AttributeOptions = {}): PropertyDecorator {
  return applyDecorators(Reflect.metadata(IS_REFERENCE, true), BigInteger({ min: 1, ...options }));
}

/** Whether an attribute of a DTO is declared by {@link Id}. */
export const isReference = (prototype: object, name: string): boolean =>
  Reflect.hasMetadata(IS_REFERENCE, prototype, name);

/** An amount of money with at most two decimals, for `numeric(12,2)`. */
export function Money(options: AttributeOptions = {}): PropertyDecorator {
  return pureAttribute(
    aNumber,
    [range(0, MAX_MONEY), decimals(2, 'must have at most two decimals')],
    { type: 'number', minimum: 0, maximum: MAX_MONEY },
    options,
  );
}

/**
 * A number that is exact, for `numeric(precision, scale)`: at most `scale` decimals, and `precision` digits together.
 * Default bounds: all of these numbers
 * @throws {Error} for digits that a JSON number doesn't represent exactly
 */
export function Decimal({
  precision,
  scale,
  min,
  max,
  ...options
}: AttributeOptions & Bounds & { precision: number; scale: number }): PropertyDecorator {
  if (precision > MAX_PRECISION || scale < 1 || scale > precision) throw noDecimal(precision, scale);
  const greatest = Number(`${'9'.repeat(precision - scale) || '0'}.${'9'.repeat(scale)}`);
  const [least, most] = [min ?? -greatest, max ?? greatest];
  const message = `must have at most ${scale} ${scale === 1 ? 'decimal' : 'decimals'}`;
  return pureAttribute(
    aNumber,
    [range(least, most), decimals(scale, message)],
    { type: 'number', minimum: least, maximum: most, [DECIMALS]: scale } as ApiPropertyOptions,
    options,
  );
}

const aNumber: Rule = { name: 'type', message: 'must be a number', holds: Number.isFinite };

function range(min: number, max: number): Rule {
  return rule('range', `must be from ${min} to ${max}`, isNumber, (number) => number >= min && number <= max);
}

/** Rounded to so many decimals a number is the same: it is the nearest one to what the client wrote. */
function decimals(scale: number, message: string): Rule {
  return rule('decimals', message, isNumber, (number) => Number(number.toFixed(scale)) === number);
}

function noDecimal(precision: number, scale: number): Error {
  return new Error(
    `Decimal({ precision: ${precision}, scale: ${scale} }): precision is at most ${MAX_PRECISION}, and scale from 1 to precision. ` +
      'Use Whole() or BigInteger() for a number without decimals, and Text() with a pattern for one with more digits',
  );
}
