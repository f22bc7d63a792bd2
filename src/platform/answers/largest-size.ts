import type { Type } from '@nestjs/common';
import { type ApiError, validationError } from '../errors/api-error';
import { attributesOf, type DtoClass } from '../input/fields';
import { MAX_BYTES } from '../input/nested-attributes';
import { DECIMALS } from '../input/number-attributes';
import { mebibytes } from '../units';

/** The greatest size of an answer. A larger page is refused or gets fewer items. */
export const MAX_ANSWER_BYTES = mebibytes(8);

/** The metadata key under which @nestjs/swagger keeps the documentation of an attribute. */
const SWAGGER_PROPERTY = 'swagger/apiModelProperties';
/** A character that is escaped as `\u003c` takes six bytes. None takes more. */
const BYTES_PER_CHARACTER = 6;
/** Bytes around a value: the quotes and colon of its name, a comma, and its own quotes or brackets. */
const BYTES_AROUND = 6;
const BYTES_OF_BOOLEAN = 5;
/** The longest number in JSON, for an attribute without bounds. */
const BYTES_OF_ANY_NUMBER = 25;

interface Documented {
  type?: unknown;
  isArray?: boolean;
  maxItems?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  [DECIMALS]?: number;
  [MAX_BYTES]?: number;
  enum?: unknown[];
  items?: Documented;
}

/** The greatest size of a representation, computed from the documented bounds of its attributes. */
export class LargestSize {
  private static readonly known = new WeakMap<DtoClass, LargestSize>();
  /** Bytes of all attributes. Infinity while it is being computed, so that a type that contains itself has no bound. */
  readonly whole: number = Infinity;
  private readonly bytes: Map<string, number>;

  private constructor(dto: DtoClass) {
    LargestSize.known.set(dto, this);
    this.bytes = new Map(
      attributesOf(dto).map((name) => [name, name.length + BYTES_AROUND + largestOf(documented(dto, name))]),
    );
    this.whole = sumOf(this.bytes.values());
  }

  /** The size of a DTO. It is Infinity if an attribute has no documented bound. */
  static of(dto: DtoClass): LargestSize {
    return LargestSize.known.get(dto) ?? new LargestSize(dto);
  }

  /** Bytes of the attributes in `fields`, or of all attributes without it. */
  reducedTo(fields: string[] | undefined): number {
    return fields ? sumOf(fields.map((name) => this.bytes.get(name) ?? Infinity)) : this.whole;
  }
}

function documented(dto: DtoClass, name: string): Documented {
  return (Reflect.getMetadata(SWAGGER_PROPERTY, dto.prototype as object, name) ?? {}) as Documented;
}

function largestOf(attribute: Documented): number {
  const one = largestValue({ ...attribute, ...attribute.items });
  const isList = attribute.isArray || attribute.type === 'array';
  return isList ? (attribute.maxItems ?? Infinity) * (one + BYTES_AROUND) : one;
}

function largestValue(attribute: Documented): number {
  const { type, maxLength = Infinity, enum: names, [MAX_BYTES]: maxBytes = Infinity } = attribute;
  if (names) return Math.max(...names.map((name) => BYTES_PER_CHARACTER * String(name).length));
  switch (type) {
    case String:
    case 'string':
      return BYTES_PER_CHARACTER * maxLength;
    case Number:
    case 'number':
    case 'integer':
      return largestNumber(attribute);
    case 'object':
      return BYTES_PER_CHARACTER * maxBytes;
    case Boolean:
    case 'boolean':
      return BYTES_OF_BOOLEAN;
    default:
      return nested(type);
  }
}

/** Three more than a bound without decimals has: a point and two of them. */
function largestNumber({ minimum = 0, maximum, [DECIMALS]: decimals }: Documented): number {
  if (maximum === undefined || decimals !== undefined) return BYTES_OF_ANY_NUMBER;
  return Math.max(String(minimum).length, String(maximum).length) + 3;
}

/** Bytes of a nested DTO. @nestjs/swagger allows a class or a function that returns it. */
function nested(type: unknown): number {
  if (typeof type !== 'function') return Infinity;
  const dto = (type.name === 'type' ? (type as () => unknown)() : type) as Type<object>;
  // E.g. a list without a bound.
  if (typeof dto !== 'function') return Infinity;
  return attributesOf(dto).length > 0 ? LargestSize.of(dto).whole : Infinity;
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

/** 400 for a page that is larger than an answer may be. */
export function pageTooLarge(): ApiError {
  const message = `must be smaller: the page would have more than ${MAX_ANSWER_BYTES / mebibytes(1)} MiB`;
  return validationError([{ field: 'size', rule: 'bytes', message }]);
}
