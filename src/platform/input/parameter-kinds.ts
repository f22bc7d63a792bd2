import type { ApiPropertyOptions } from '@nestjs/swagger';
import { MAX_ID } from '../rows/resource.entity';
import { parseId } from '../rows/parse-id';
import { idMessage } from './id.pipe';
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

/** How the text of a parameter is read. */
export interface ParameterKind<T> {
  /** The rule of a text that can't be read, and its message. */
  name: string;
  message: string;
  schema: ApiPropertyOptions;
  /** Undefined for such a text. */
  parse: (text: string) => T | undefined;
}

interface Bounds {
  min: number;
  max: number;
}

export const booleanKind: ParameterKind<boolean> = {
  name: 'boolean',
  message: 'must be true or false',
  schema: { type: Boolean, example: true },
  parse: (text) => asPrimitive(text, Boolean) as boolean | undefined,
};

export const dateKind: ParameterKind<string> = {
  name: 'date',
  message: dayMessage,
  schema: { type: String, format: 'date', maxLength: EXAMPLE_DAY.length, example: EXAMPLE_DAY },
  parse: bounded(parseDay),
};

export const momentKind: ParameterKind<Date> = {
  name: 'moment',
  message: momentMessage,
  schema: { type: String, format: 'date-time', maxLength: MAX_VALUE_TEXT, example: EXAMPLE_MOMENT },
  parse: bounded(parseMoment),
};

const { length } = EXAMPLE_KEY;
export const uuidKind: ParameterKind<string> = {
  name: 'uuid',
  message: 'must be a UUID',
  schema: { type: String, format: 'uuid', minLength: length, maxLength: length, example: EXAMPLE_KEY },
  parse: bounded(parseUuid),
};

/** The greatest number of ids in a parameter. */
const MAX_IDS = 100;
/** Characters of the longest id with its comma. */
const MAX_ID_TEXT = 20;

/** Ids of resources, separated by commas. An id that comes twice is taken once. */
export const idsKind: ParameterKind<number[]> = {
  name: 'ids',
  message: `must be 1 to ${MAX_IDS} ids, separated by commas: each ${idMessage.replace('must be ', '')}`,
  schema: {
    type: 'array',
    items: { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID },
    minItems: 1,
    maxItems: MAX_IDS,
    example: [1],
  },
  parse: (text) => {
    if (text.length > MAX_IDS * MAX_ID_TEXT) return undefined;
    const texts = text.split(',');
    const ids = texts.length > MAX_IDS ? [undefined] : texts.map(parseId);
    return ids.every((id) => id !== undefined) ? [...new Set(ids)] : undefined;
  },
};

export function enumKind(names: readonly string[] | Record<string, string>): ParameterKind<string> {
  const allowed = Object.values(names);
  return {
    name: 'enum',
    message: `must be one of ${allowed.join(', ')}`,
    schema: { type: String, enum: allowed, example: allowed[0] },
    parse: (text) => (allowed.includes(text) ? text : undefined),
  };
}

/** An integer with an optional sign. */
export function integerKind({ min, max, format }: Bounds & { format?: string }): ParameterKind<number> {
  return {
    name: 'range',
    message: `must be an integer from ${min} to ${max}`,
    schema: { type: 'integer', format, minimum: min, maximum: max, example: within(1, { min, max }) },
    parse: (text) => {
      const number = text.includes('.') ? undefined : asPrimitive(text, Number);
      return typeof number === 'number' && number >= min && number <= max ? number : undefined;
    },
  };
}

/** A decimal number without an exponent. */
export function decimalKind({ min, max, decimals }: Bounds & { decimals: number }): ParameterKind<number> {
  return {
    name: 'decimal',
    message: `must be a number from ${min} to ${max} with at most ${decimals} decimals`,
    schema: { type: Number, minimum: min, maximum: max, example: within(1, { min, max }) },
    parse: bounded((text) => {
      const [decimal, fraction = ''] = DECIMAL.exec(text) ?? [];
      const number = Number(decimal);
      const isExact = fraction.length <= decimals && text.replace(/\D/g, '').length <= MAX_DIGITS;
      return isExact && number >= min && number <= max ? number : undefined;
    }),
  };
}

const within = (number: number, { min, max }: Bounds): number => Math.max(min, Math.min(max, number));

/** Parses no text that is too long. */
function bounded<T>(parse: (text: string) => T | undefined): (text: string) => T | undefined {
  return (text) => (text.length > MAX_VALUE_TEXT ? undefined : parse(text));
}
