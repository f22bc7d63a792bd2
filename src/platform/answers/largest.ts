import type { Type } from '@nestjs/common';
import { type ApiError, validationError } from '../errors/api-error';
import { attributesOf, type DtoClass } from '../input/fields';

/** Bytes of an answer; a page that would have more is refused, or holds fewer items. */
export const MAX_ANSWER = 8 * 1024 * 1024;

/** Where @nestjs/swagger keeps what it knows of an attribute. */
const SWAGGER_PROPERTY = 'swagger/apiModelProperties';
/** Bytes of a character that leaves as `\u003c`: none takes more. */
const PER_CHARACTER = 6;
/** Bytes around a value: quotes and a colon for its name, a comma, quotes or brackets. */
const AROUND = 6;
const BOOLEAN = 5;
/** Of a number whose bounds nobody has said: as many characters as JSON has for one. */
const ANY_NUMBER = 25;

interface Documented {
  type?: unknown;
  isArray?: boolean;
  maxItems?: number;
  maxLength?: number;
  maximum?: number;
  enum?: unknown[];
  items?: Documented;
}

/** How many bytes a representation can take at most, by what its attributes are documented to be. */
export class Largest {
  private static readonly known = new WeakMap<DtoClass, Largest>();
  /** Of all attributes together. Infinite while they are measured: of what contains its own kind there is no largest. */
  readonly whole: number = Infinity;
  private readonly bytes: Map<string, number>;

  private constructor(dto: DtoClass) {
    Largest.known.set(dto, this);
    this.bytes = new Map(
      attributesOf(dto).map((name) => [name, name.length + AROUND + largestOf(documented(dto, name))]),
    );
    this.whole = sumOf(this.bytes.values());
  }

  /** Infinite where an attribute says of no bound. */
  static of(dto: DtoClass): Largest {
    return Largest.known.get(dto) ?? new Largest(dto);
  }

  /** Of those that a `fields` parameter names; of all without one. */
  reducedTo(fields: string[] | undefined): number {
    return fields ? sumOf(fields.map((name) => this.bytes.get(name) ?? Infinity)) : this.whole;
  }
}

function documented(dto: DtoClass, name: string): Documented {
  return (Reflect.getMetadata(SWAGGER_PROPERTY, dto.prototype as object, name) ?? {}) as Documented;
}

function largestOf(attribute: Documented): number {
  const one = largestValue({ ...attribute, ...attribute.items });
  return attribute.isArray ? (attribute.maxItems ?? Infinity) * (one + AROUND) : one;
}

function largestValue({ type, maxLength = Infinity, maximum, enum: names }: Documented): number {
  if (names) return Math.max(...names.map((name) => PER_CHARACTER * String(name).length));
  switch (type) {
    case String:
    case 'string':
      return PER_CHARACTER * maxLength;
    case Number:
    case 'number':
    case 'integer':
      return maximum === undefined ? ANY_NUMBER : String(maximum).length + 3;
    case Boolean:
    case 'boolean':
      return BOOLEAN;
    default:
      return nested(type);
  }
}

/** A class, or a function that gives it, as @nestjs/swagger takes either. */
function nested(type: unknown): number {
  if (typeof type !== 'function') return Infinity;
  const dto = (type.name === 'type' ? (type as () => unknown)() : type) as Type<object>;
  // A list without a bound, say.
  if (typeof dto !== 'function') return Infinity;
  return attributesOf(dto).length > 0 ? Largest.of(dto).whole : Infinity;
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

/** 400 for a page that an answer has no room for. */
export function pageTooLarge(): ApiError {
  const message = `must be smaller: the page would have more than ${MAX_ANSWER / 2 ** 20} MiB`;
  return validationError([{ field: 'size', rule: 'bytes', message }]);
}
