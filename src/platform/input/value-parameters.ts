import { isString, pureAttribute } from './attribute';
import {
  booleanKind,
  dateKind,
  decimalKind,
  enumKind,
  momentKind,
  type ParameterKind,
  uuidKind,
} from './parameter-kinds';

/** `true` or `false`, optional. */
export const BooleanParameter = (description: string): PropertyDecorator => parameter(booleanKind, description);

/** A date, optional. It stays text, like a column of type `date`. */
export const DateParameter = (description: string): PropertyDecorator => parameter(dateKind, description);

/** A point in time, optional. It becomes a `Date`. */
export const MomentParameter = (description: string): PropertyDecorator => parameter(momentKind, description);

/** One of the values of an enum or of a list of names, optional. */
export const EnumParameter = (
  names: readonly string[] | Record<string, string>,
  description: string,
): PropertyDecorator => parameter(enumKind(names), description);

/** A UUID, optional. It becomes lower case, like in PostgreSQL. */
export const UuidParameter = (description: string): PropertyDecorator => parameter(uuidKind, description);

/** A decimal number without an exponent, optional. */
export const DecimalParameter = ({
  description,
  ...bounds
}: {
  min: number;
  max: number;
  decimals: number;
  description: string;
}): PropertyDecorator => parameter(decimalKind(bounds), description);

function parameter({ name, message, schema, parse }: ParameterKind<unknown>, description: string): PropertyDecorator {
  // An invalid text stays unchanged. A parsed value has another type, or parses to itself.
  const holds = (value: unknown) => (isString(value) ? parse(value) === value : isMade(value));
  const documentation = { ...schema, description };
  return pureAttribute({ name, message, holds }, [], documentation, { optional: true }, (value) =>
    isString(value) ? (parse(value) ?? value) : value,
  );
}

/** Excludes objects and lists, which a query may contain as well. */
const isMade = (value: unknown): boolean => ['boolean', 'number'].includes(typeof value) || value instanceof Date;
