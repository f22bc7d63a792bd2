import type { ApiPropertyOptions } from '@nestjs/swagger';
import { type AttributeOptions, isString, pureAttribute, rule } from './attribute';
import { EXAMPLE_KEY } from './key.pipe';
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

/** True or false. */
export function Flag(options: AttributeOptions = {}): PropertyDecorator {
  const holds = (value: unknown) => typeof value === 'boolean';
  return pureAttribute({ name: 'type', message: 'must be true or false', holds }, [], { type: Boolean }, options);
}

/** A day of the calendar, for `date`. It is a text like 2026-01-31, which no time zone moves. */
export function DateOnly(options: AttributeOptions = {}): PropertyDecorator {
  const schema = { type: String, format: 'date', maxLength: EXAMPLE_DAY.length, example: EXAMPLE_DAY };
  return written('date', dayMessage, schema, options, parseDay);
}

/** A point in time, for `timestamptz(3)`. It comes in any time zone, and becomes a `Date`. It is answered in UTC. */
export function Moment(options: AttributeOptions = {}): PropertyDecorator {
  const schema = { type: String, format: 'date-time', maxLength: MAX_VALUE_TEXT, example: EXAMPLE_MOMENT };
  return written('moment', momentMessage, schema, options, parseMoment);
}

/** A UUID in any letters, which become small. */
export function Uuid(options: AttributeOptions = {}): PropertyDecorator {
  const { length } = EXAMPLE_KEY;
  const schema = { type: String, format: 'uuid', minLength: length, maxLength: length, example: EXAMPLE_KEY };
  return written('uuid', 'must be a UUID', schema, options, parseUuid);
}

/** @param parse returns undefined for an invalid text */
function written(
  name: string,
  message: string,
  schema: ApiPropertyOptions,
  options: AttributeOptions,
  parse: (text: string) => unknown,
): PropertyDecorator {
  const read = (text: string) => (text.length > MAX_VALUE_TEXT ? undefined : parse(text));
  return pureAttribute(
    { name: 'type', message: 'must be a string', holds: (value) => isString(value) || value instanceof Date },
    // An invalid text stays unchanged. A parsed value is a moment, or parses to itself.
    [rule(name, message, isString, (text) => read(text) === text)],
    schema,
    options,
    (value) => (isString(value) ? (read(value) ?? value) : value),
  );
}
