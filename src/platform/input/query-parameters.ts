import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { isArray, registerDecorator, ValidateIf, type ValidationArguments } from 'class-validator';
import { MAX_ID } from '../rows/resource.entity';
import { attributesOf, type DtoClass, namesIn } from './fields';
import { isString, pureAttribute } from './attribute';
import { parseId } from '../rows/parse-id';
import { idMessage } from './id.pipe';
import { idsKind } from './parameter-kinds';
import { PURE, PURE_TRANSFORM } from './pure';
import { Repeatable } from './repeatable';

const DECIMAL = /^(0|[1-9]\d{0,9})$/;

/** An integer in decimal digits. */
export function WholeParameter({ min, max, ...documentation }: { min: number; max: number } & ApiPropertyOptions) {
  const holds = (value: unknown) => typeof value === 'number' && value >= min && value <= max;
  return applyDecorators(
    ApiProperty({
      ...documentation,
      type: 'integer',
      format: 'int32',
      minimum: min,
      maximum: max,
      required: false,
    }),
    Transform(({ value }: { value: unknown }) => (DECIMAL.test(String(value)) ? Number(value) : value), PURE_TRANSFORM),
    ValidateIf((_query, value) => value !== undefined, PURE),
    constraint('range', `must be an integer from ${min} to ${max}`, holds),
  );
}

/** Declares a synonym of a parameter: if both are given, they must be equal. */
export function SameAs(twin: string): PropertyDecorator {
  return constraint('twin', `must not differ from ${twin}, which is the same parameter`, (value, query) => {
    const other = (query as Record<string, unknown>)[twin];
    return value === undefined || other === undefined || value === other;
  });
}

/** `fields`: the attributes of `item` to return, in the order of the resource. */
export function FieldList(item: DtoClass): PropertyDecorator {
  // A function, because a class that is still being defined has no attributes yet.
  const attributes = () => attributesOf(item);
  return applyDecorators(
    ApiProperty({
      description: 'Comma-separated names of the attributes to return; all when left out.',
      type: String,
      required: false,
    }),
    ValidateIf((_query, value) => value !== undefined, PURE),
    Transform(
      ({ value }: { value: unknown }) => (typeof value === 'string' ? inOrder(value, attributes()) : value),
      PURE_TRANSFORM,
    ),
    constraint(
      'enum',
      () => `must name some of ${attributes().join(', ')}`,
      (names) => {
        const known = attributes();
        return isArray<string>(names) && names.length <= known.length && names.every((name) => known.includes(name));
      },
    ),
  );
}

/** The name of the rule by which the class of a query is known to take `include`. */
export const INCLUDE_RULE = 'include';

/** `include`: the related rows to embed. The input guard compares the names with what the route's resource declares. */
export function IncludeList(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ description: 'Comma-separated names of what to embed.', type: String, required: false }),
    ValidateIf((_query, value) => value !== undefined, PURE),
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? namesIn(value) : value), PURE_TRANSFORM),
    constraint(INCLUDE_RULE, 'must be names', isArray),
  );
}

/** An optional id. */
export function IdParameter(description: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      description,
      type: 'integer',
      format: 'int64',
      minimum: 1,
      maximum: MAX_ID,
      required: false,
      example: 1,
    }),
    Transform(
      ({ value }: { value: unknown }) => (typeof value === 'string' ? (parseId(value) ?? value) : value),
      PURE_TRANSFORM,
    ),
    ValidateIf((_query, value) => value !== undefined, PURE),
    constraint('id', idMessage, (value) => typeof value === 'number'),
  );
}

/** An optional list of ids: 1 to 100, separated by commas or repeated. An id that comes twice is taken once. */
export function IdsParameter(description: string): PropertyDecorator {
  const { name, message, schema, parse } = idsKind;
  const read = (value: unknown) => (isString(value) ? (parse(value) ?? value) : value);
  return applyDecorators(
    Repeatable(),
    pureAttribute({ name, message, holds: isArray }, [], { ...schema, description }, { optional: true }, read),
  );
}

/** The names in the order of the resource. If one is unknown, or there are too many, all names unchanged, so that the rule finds it. */
function inOrder(text: string, attributes: string[]): string[] {
  const names = namesIn(text);
  const areKnown = names.length <= attributes.length && names.every((name) => attributes.includes(name));
  return areKnown ? attributes.filter((name) => names.includes(name)) : names;
}

/** A rule that depends on the query alone. */
function constraint(
  name: string,
  message: string | (() => string),
  holds: (value: unknown, query: object) => boolean,
): PropertyDecorator {
  return (target, propertyName) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyName as string,
      options: PURE,
      validator: {
        validate: (value: unknown, { object }: ValidationArguments) => holds(value, object),
        defaultMessage: () => (typeof message === 'string' ? message : message()),
      },
    });
}
