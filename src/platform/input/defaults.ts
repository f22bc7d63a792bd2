import { getMetadataStorage } from 'class-validator';
import { Presence } from './presence';

/** What an object of one class takes where it is left out, and where it has objects that may take something, too. */
interface Completion {
  fallbacks: [name: string, fallback: unknown][];
  nested: string[];
}

const CONDITION = 'conditionalValidation';
const NESTED = 'nestedValidation';
const completions = new WeakMap<object, Completion | undefined>();

/** Gives a valid object of a DTO, and those within it, the defaults of what was left out. Returns the same object. */
export function withDefaults(made: unknown): unknown {
  if (typeof made !== 'object' || made === null) return made;
  const completion = completionOf(made.constructor);
  if (!completion) return made;
  const values = made as Record<string, unknown>;
  for (const [name, fallback] of completion.fallbacks) {
    // Each request gets a list of its own: the handler changes it as it likes.
    if (values[name] === undefined) values[name] = typeof fallback === 'object' ? structuredClone(fallback) : fallback;
  }
  for (const name of completion.nested) {
    const value = values[name];
    if (Array.isArray(value)) value.forEach(withDefaults);
    else withDefaults(value);
  }
  return made;
}

/**
 * What a DTO says that its attributes take when they are left out. An attribute that may be left out for another reason as
 * well, such as all those of `PartialType()`, stays left out.
 */
export function defaultsOf(dto: object): Record<string, unknown> {
  return structuredClone(Object.fromEntries(completionOf(dto)?.fallbacks ?? []));
}

function completionOf(dto: unknown): Completion | undefined {
  if (typeof dto !== 'function') return undefined;
  if (!completions.has(dto)) completions.set(dto, compile(dto));
  return completions.get(dto);
}

/** Once for each class. Undefined where there is nothing to do. */
function compile(dto: object): Completion | undefined {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto as () => void, '', false, false);
  const presences = new Map<string, unknown[]>();
  for (const { type, propertyName, context } of rules) {
    if (type === CONDITION) presences.set(propertyName, [...(presences.get(propertyName) ?? []), context]);
  }
  const fallbacks = [...presences].flatMap(([name, contexts]): [string, unknown][] => {
    const fallback = fallbackOf(contexts);
    return fallback === undefined ? [] : [[name, fallback]];
  });
  const nested = new Set(rules.filter(({ type }) => type === NESTED).map(({ propertyName }) => propertyName));
  return fallbacks.length + nested.size > 0 ? { fallbacks, nested: [...nested] } : undefined;
}

function fallbackOf(contexts: unknown[]): unknown {
  const own = contexts.filter((context) => context instanceof Presence);
  if (own.length < contexts.length) return undefined;
  return own.map(({ fallback }) => fallback).findLast((fallback) => fallback !== undefined);
}
