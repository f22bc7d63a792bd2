import { pureAttribute, isString } from './attribute';
import { EXAMPLE_KEY } from './key.pipe';
import { asPrimitive } from './primitives';
import {
  dayMessage,
  EXAMPLE_DAY,
  EXAMPLE_MOMENT,
  MAX_VALUE_TEXT,
  momentMessage,
  parseDay,
  parseMoment,
  parseUuid,
} from './value-texts';

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?$/;
/** A double represents this many decimal digits exactly. */
const MAX_DIGITS = 15;

/** `true` or `false`, optional. */
export function BooleanParameter(description: string): PropertyDecorator {
  const schema = { type: Boolean, example: true };
  return parameter('boolean', 'must be true or false', description, schema, (text) => asPrimitive(text, Boolean));
}

/** A date, optional. It stays text, like a column of type `date`. */
export function DateParameter(description: string): PropertyDecorator {
  const schema = { type: String, format: 'date', maxLength: EXAMPLE_DAY.length, example: EXAMPLE_DAY };
  return parameter('date', dayMessage, description, schema, parseDay);
}

/** A point in time, optional. It becomes a `Date`. */
export function MomentParameter(description: string): PropertyDecorator {
  const schema = { type: String, format: 'date-time', maxLength: MAX_VALUE_TEXT, example: EXAMPLE_MOMENT };
  return parameter('moment', momentMessage, description, schema, parseMoment);
}

/** One of the values of an enum or of a list of names, optional. */
export function EnumParameter(
  names: readonly string[] | Record<string, string>,
  description: string,
): PropertyDecorator {
  const allowed = Object.values(names);
  const schema = { type: String, enum: allowed, example: allowed[0] };
  const parse = (text: string) => (allowed.includes(text) ? text : undefined);
  return parameter('enum', `must be one of ${allowed.join(', ')}`, description, schema, parse);
}

/** A UUID, optional. It becomes lower case, like in PostgreSQL. */
export function UuidParameter(description: string): PropertyDecorator {
  const { length } = EXAMPLE_KEY;
  const schema = { type: String, format: 'uuid', minLength: length, maxLength: length, example: EXAMPLE_KEY };
  return parameter('uuid', 'must be a UUID', description, schema, parseUuid);
}

/** A decimal number without an exponent, optional. */
export function DecimalParameter(options: {
  min: number;
  max: number;
  decimals: number;
  description: string;
}): PropertyDecorator {
  const { min, max, decimals, description } = options;
  const schema = { type: Number, minimum: min, maximum: max, example: Math.max(min, Math.min(max, 1)) };
  const parse = (text: string) => {
    const [decimal, fraction = ''] = DECIMAL.exec(text) ?? [];
    const number = Number(decimal);
    const isExact = fraction.length <= decimals && text.replace(/\D/g, '').length <= MAX_DIGITS;
    return isExact && number >= min && number <= max ? number : undefined;
  };
  const message = `must be a number from ${min} to ${max} with at most ${decimals} decimals`;
  return parameter('decimal', message, description, schema, parse);
}

/** @param parse returns undefined for an invalid text */
function parameter(
  name: string,
  message: string,
  description: string,
  schema: object,
  parse: (text: string) => unknown,
): PropertyDecorator {
  const read = (text: string) => (text.length > MAX_VALUE_TEXT ? undefined : parse(text));
  // An invalid text stays unchanged. A parsed value has another type, or parses to itself.
  const holds = (value: unknown) => (isString(value) ? read(value) === value : isMade(value));
  return pureAttribute({ name, message, holds }, [], { ...schema, description }, { optional: true }, (value) =>
    isString(value) ? (read(value) ?? value) : value,
  );
}

/** Excludes objects and lists, which a query may contain as well. */
const isMade = (value: unknown): boolean => ['boolean', 'number'].includes(typeof value) || value instanceof Date;
