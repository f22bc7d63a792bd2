import { getMetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';
import type { ConstraintMetadata } from 'class-validator/types/metadata/ConstraintMetadata';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata';

type Class = new (...parameters: never[]) => object;
type Condition = (object: object, value: unknown) => unknown;

/** A rule of a property, and what checks it. */
interface Check {
  rule: ValidationMetadata;
  constraint: ConstraintMetadata;
}

/** The rules of a property. */
interface Rules {
  conditions: Condition[];
  checks: Check[];
  isNested: boolean;
}

const { CONDITIONAL_VALIDATION, NESTED_VALIDATION, CUSTOM_VALIDATION, IS_DEFINED, WHITELIST } = ValidationTypes;
const KNOWN = [CONDITIONAL_VALIDATION, NESTED_VALIDATION, CUSTOM_VALIDATION, IS_DEFINED, WHITELIST];

const storage = getMetadataStorage();
/** The rules of each class by property. Undefined for a class whose rules class-validator alone understands. */
let compiled = new Map<unknown, Map<string, Rules> | undefined>();

/** Rules that come later count as well. */
for (const name of ['addValidationMetadata', 'addConstraintMetadata'] as const) {
  const add = storage[name].bind(storage) as (metadata: object) => void;
  storage[name] = (metadata: object) => {
    compiled = new Map();
    add(metadata);
  };
}

/**
 * Whether an object keeps all rules of its class, and has no other attribute: then class-validator would find no error. It
 * looks for the rules of a class, sorts them and makes an error for each attribute, whether or not there is one, each time.
 * @returns false if an error is found, or can't be excluded: class-validator is to be asked
 */
export function keepsRules(object: object): boolean {
  const type: unknown = object.constructor;
  const rules = typeof type === 'function' ? rulesOf(type as Class) : undefined;
  if (!rules) return false;
  for (const name of Object.keys(object)) if (!rules.has(name)) return false;
  for (const [name, ofProperty] of rules) {
    if (!keeps(object, name, (object as Record<string, unknown>)[name], ofProperty)) return false;
  }
  return true;
}

function rulesOf(type: Class): Map<string, Rules> | undefined {
  if (!compiled.has(type)) compiled.set(type, compile(type));
  return compiled.get(type);
}

function compile(type: Class): Map<string, Rules> | undefined {
  const all = storage.getTargetValidationMetadatas(type, undefined as never, false, false);
  if (all.length === 0 || all.some((rule) => !isUnderstood(rule))) return undefined;
  return new Map(
    Object.entries(storage.groupByPropertyName(all)).map(([name, rules]) => [
      name,
      {
        conditions: rules
          .filter(({ type }) => type === CONDITIONAL_VALIDATION)
          .map(({ constraints }) => constraints[0] as Condition),
        checks: rules.filter(({ type }) => type === CUSTOM_VALIDATION || type === IS_DEFINED).flatMap(checksOf),
        isNested: rules.some(({ type }) => type === NESTED_VALIDATION),
      },
    ]),
  );
}

const checksOf = (rule: ValidationMetadata): Check[] =>
  storage.getTargetValidatorConstraints(rule.constraintCls).map((constraint) => ({ rule, constraint }));

function isUnderstood({ type, constraintCls }: ValidationMetadata): boolean {
  return KNOWN.includes(type) && !storage.getTargetValidatorConstraints(constraintCls).some(({ async }) => async);
}

function keeps(object: object, name: string, value: unknown, { conditions, checks, isNested }: Rules): boolean {
  // All are asked, as class-validator does.
  if (conditions.filter((holds) => !holds(object, value)).length > 0) return true;
  return checks.every((check) => passes(check, object, value, name)) && (!isNested || isValidInside(value));
}

function passes({ rule, constraint }: Check, object: object, value: unknown, property: string): boolean {
  if (rule.validateIf && !rule.validateIf(object, value)) return true;
  const { constraints, each } = rule;
  const question: ValidationArguments = { targetName: object.constructor.name, property, object, value, constraints };
  const isValid = (one: unknown): boolean => {
    const answer: unknown = constraint.instance.validate(one, question);
    if (answer instanceof Promise) leave(object, answer);
    return answer === true;
  };
  if (!each) return isValid(value);
  if (Array.isArray(value)) return value.every(isValid);
  return !(value instanceof Set || value instanceof Map) && isValid(value);
}

/** Leaves a class to class-validator from now on: a rule answers by a promise without having said so. */
function leave(object: object, answer: Promise<unknown>): void {
  compiled.set(object.constructor, undefined);
  answer.catch(() => undefined);
}

/** Whether a nested object, or each of a list of them, keeps the rules of its own class. */
function isValidInside(value: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.every(isValidInside);
  return value instanceof Object && !(value instanceof Set || value instanceof Map) && keepsRules(value);
}
