import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { registerDecorator, ValidateIf, type ValidationOptions } from 'class-validator';
import { Presence } from './presence';
import { PURE, PURE_TRANSFORM } from './pure';

/** One rule. A value of the wrong type only violates the rule about the type: the other rules accept it. */
export interface Rule {
  name: string;
  message: string;
  holds: (value: unknown) => boolean;
}

export interface AttributeOptions {
  /** The attribute may be left out. Default: false */
  optional?: boolean;
  /** The attribute may be null. Default: false */
  nullable?: boolean;
  /** What it takes when it is left out of a body or query; nothing where `PartialType()` lets it be left out. Makes it optional. */
  default?: unknown;
}

type Definition = [
  type: Rule,
  rules: Rule[],
  schema: ApiPropertyOptions,
  options: AttributeOptions,
  transform?: (value: unknown) => unknown,
];

/** Declares an attribute of an input: its rules and its documentation. */
export const attribute = (...definition: Definition): PropertyDecorator => define(definition, {});

/** The same for rules and a transformation that depend on the value alone, so that valid queries can be cached. */
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
    // That null is what an attribute takes goes without saying.
    ...(fallback !== undefined && fallback !== null && { default: fallback }),
  } as ApiPropertyOptions;
  return applyDecorators(
    ApiProperty(documentation),
    // The value given to the condition is the one before any rule looked at it: undefined means left out.
    ValidateIf((_dto, value) => !(value === undefined && mayBeAbsent) && !(value === null && nullable), {
      context: new Presence(kind === PURE, fallback),
    }),
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

export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
