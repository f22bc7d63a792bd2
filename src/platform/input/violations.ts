import { defaultMetadataStorage } from 'class-transformer/cjs/storage';
import type { ValidationError } from 'class-validator';
import type { FieldViolation } from '../errors/api-error';

export const UNKNOWN = { rule: 'unknown', message: 'is not known here' };
const NESTED = 'nestedValidation';
const EACH = 'each value in ';
/**
 * Rule names of the service for class-validator's decorators. Other rules lose their prefix `is` and become lower case.
 */
const RULES: Record<string, string> = {
  ...named('type', 'isBoolean', 'isDate', 'isInt', 'isNumber', 'isString', 'isArray', 'isObject', 'isInstance', NESTED),
  ...named('range', 'min', 'max', 'minDate', 'maxDate', 'isPositive', 'isNegative'),
  ...named('length', 'minLength', 'maxLength', 'isLength', 'arrayMinSize', 'arrayMaxSize', 'arrayNotEmpty'),
  ...named('enum', 'isEnum', 'isIn', 'isNotIn'),
  ...named('required', 'isDefined', 'isNotEmpty', 'isNotEmptyObject'),
  ...named('pattern', 'matches'),
  ...named('unique', 'arrayUnique'),
};

function named(rule: string, ...decorators: string[]): Record<string, string> {
  return Object.fromEntries(decorators.map((decorator) => [decorator, rule]));
}

/** An entry for each violated rule, with the path of its field in the client's names. */
export function violationsOf(error: ValidationError, parent = ''): FieldViolation[] {
  const { constraints = {}, children = [], property, target } = error;
  const field = parent + nameOf(property, target);
  const violated = Object.entries(constraints);
  const others = violated.filter(([rule]) => rule !== NESTED);
  const own = others.length > 0 ? others : violated;
  const told = own.some(([rule]) => ruleName(rule) === 'type');
  return [
    ...own.map(([rule, message]) => violation(field, property, rule, message)),
    // A rule about the type of a list also covers its items, and what is no list has none.
    ...(told ? [] : children.flatMap((child) => violationsOf(child, `${field}.`))),
  ];
}

function violation(field: string, property: string, rule: string, message: string): FieldViolation {
  if (rule === 'whitelistValidation') return { field, ...UNKNOWN };
  if (rule === NESTED) return { field, rule: RULES[rule], message: 'must be an object, or a list of objects' };
  return { field, rule: ruleName(rule), message: withoutName(message, property) };
}

function ruleName(rule: string): string {
  const short = Object.hasOwn(RULES, rule) ? RULES[rule] : rule.replace(/^is(?=[A-Z])/, '');
  return short.toLowerCase().replaceAll(/[^a-z]+/g, '') || 'invalid';
}

/** Removes the field's name from the message, because the field is always shown before it. */
function withoutName(message: string, property: string): string {
  if (message.startsWith(`${property} `)) return message.slice(property.length + 1);
  return message.startsWith(`${EACH}${property} `)
    ? `each value ${message.slice(EACH.length + property.length + 1)}`
    : message;
}

/** The name that `@Expose({ name })` gives an attribute. */
function nameOf(property: string, target: object | undefined): string {
  const type = target?.constructor;
  return (type && defaultMetadataStorage.findExposeMetadata(type, property)?.options.name) ?? property;
}

/**
 * Names that are properties of every object, or accessors of the class. Nest and its libraries silently drop or accept
 * them.
 */
export function uncheckedNames(value: unknown, prototype: object, parent = ''): string[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  return Object.entries(value).flatMap(([name, child]) => [
    ...(name in prototype || name === 'prototype' ? [parent + name] : []),
    ...uncheckedNames(child, Object.prototype, `${parent}${name}.`),
  ]);
}
