import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { registerDecorator, ValidateIf, type ValidationOptions } from 'class-validator';
import { PURE, PURE_TRANSFORM } from './pure';

/** One rule: a value that has the wrong type breaks the type's rule alone, so the others let it pass. */
export interface Rule {
  name: string;
  message: string;
  holds: (value: unknown) => boolean;
}

export interface AttributeOptions {
  /** May be left out. Default: false */
  optional?: boolean;
  /** May be null. Default: false */
  nullable?: boolean;
  /** What it takes when it is left out; for the documentation. Makes it optional. */
  default?: unknown;
}

type Definition = [
  type: Rule,
  rules: Rule[],
  schema: ApiPropertyOptions,
  options: AttributeOptions,
  transform?: (value: unknown) => unknown,
];

/** An attribute of an input: what it may be, and how it is documented. */
export const attribute = (...definition: Definition): PropertyDecorator => define(definition, {});

/** The same, where every rule, and the transformation, depends on the value alone: such queries need no second look. */
export const pureAttribute = (...definition: Definition): PropertyDecorator => define(definition, PURE);

function define([type, rules, schema, options, transform]: Definition, kind: ValidationOptions): PropertyDecorator {
  const { optional = false, nullable = false, default: fallback } = options;
  const mayBeAbsent = optional || fallback !== undefined;
  const required: Rule = { name: 'required', message: 'is required', holds: (value) => value !== undefined };
  const present: Rule = { ...type, holds: (value) => value === undefined || type.holds(value) };
  const documentation = {
    ...schema,
    required: !mayBeAbsent,
    ...(nullable && { nullable: true }),
    ...(fallback !== undefined && { default: fallback }),
  } as ApiPropertyOptions;
  return applyDecorators(
    ApiProperty(documentation),
    // The value given to the condition is the one before any rule looked at it: undefined means left out.
    ValidateIf((_dto, value) => !(value === undefined && mayBeAbsent) && !(value === null && nullable), kind),
    ...[required, present, ...rules].map((one) => register(one, kind)),
    ...(transform ? [Transform(({ value }) => transform(value), kind === PURE ? PURE_TRANSFORM : undefined)] : []),
  );
}

function register({ name, message, holds }: Rule, options: ValidationOptions): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: property as string,
      options,
      validator: { validate: holds, defaultMessage: () => message },
    });
}

/** A rule for values of one type. */
export function rule<T>(
  name: string,
  message: string,
  applies: (value: unknown) => value is T,
  holds: (value: T) => boolean,
): Rule {
  return { name, message, holds: (value) => !applies(value) || holds(value) };
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
