import { safeBytes, toJson } from './json';

/** A part of a value that JSON has no form for, as an author of a handler is told. */
export interface Loss {
  /** Where it stands, such as `data.tags`. Empty for the value itself. */
  place: string;
  what: string;
  instead: string;
}

/** Thrown for a value of which JSON.stringify() would silently lose something. */
export class LossyValueError extends Error {
  constructor({ place, what, instead }: Loss) {
    super(`An answer can't be made: ${place || 'its value'} is ${what}; return ${instead}`);
  }
}

/**
 * What JSON.stringify() leaves of the values that it loses: of a Map `{}`, of a Uint8Array `{"0":1}`. A search of the text
 * takes no time that can be measured, and only a value whose text has one of them is looked through (D-311).
 */
const leavesTraces = (text: string): boolean => text.includes('{}') || text.includes('{"0":');

/** The part of a value that its JSON has lost. Undefined if it has lost none. */
export const lossIn = (value: unknown, text: string): Loss | undefined =>
  leavesTraces(text) ? find(value, '', lostObject) : undefined;

/** The bigint that JSON.stringify() has refused. */
export const bigintIn = (value: unknown): Loss | undefined => find(value, '', refusedBigint);

/** @throws {LossyValueError} */
export function toLosslessJson(value: unknown): string {
  const text = toJson(value);
  requireLossless(value, text);
  return text;
}

/**
 * The same in UTF-8, for large values.
 * @throws {LossyValueError}
 */
export function toLosslessJsonBytes(value: unknown): Buffer {
  const text = JSON.stringify(value);
  requireLossless(value, text);
  return safeBytes(text);
}

/**
 * @param text the JSON of the value
 * @throws {LossyValueError}
 */
export function requireLossless(value: unknown, text: string): void {
  const loss = lossIn(value, text);
  if (loss) throw new LossyValueError(loss);
}

type Look = (value: unknown) => Omit<Loss, 'place'> | undefined;

/** The first part that `look` finds, in the order of JSON.stringify(), which has found no part that contains itself before. */
function find(value: unknown, name: string, look: Look): Loss | undefined {
  const found = look(value);
  if (found) return { place: name, ...found };
  if (typeof value !== 'object' || value === null) return undefined;
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    // A Buffer has a form that Node documents, and a Date a text.
    if (Buffer.isBuffer(value) || value instanceof Date) return undefined;
    return find((value as { toJSON: (key: string) => unknown }).toJSON(name), name, look);
  }
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key];
    // Most parts are texts and numbers, and most parts are right: the place is put together for a loss only.
    const loss = typeof part === 'object' || typeof part === 'bigint' ? find(part, key, look) : undefined;
    if (loss) return name === '' ? loss : { ...loss, place: `${name}.${loss.place}` };
  }
  return undefined;
}

const refusedBigint: Look = (value) =>
  typeof value === 'bigint' ? { what: 'a bigint, which JSON does not have', instead: 'a number or a text' } : undefined;

/** An instance of a class without public properties is none of them: it may be an object that is empty on purpose. */
function lostObject(value: unknown): Omit<Loss, 'place'> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === Array.prototype || 'toJSON' in value) return undefined;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return { what: 'bytes, which JSON does not have', instead: "Buffer.from(bytes).toString('base64')" };
  }
  if (Array.isArray(value) || Object.keys(value).length > 0) return undefined;
  if (value instanceof Map) return { what: 'a Map, of which JSON keeps nothing', instead: 'Object.fromEntries(map)' };
  if (value instanceof Promise)
    return { what: 'a promise, of which JSON keeps nothing', instead: 'what it resolves to' };
  if (value instanceof Error) return { what: 'an error, of which JSON keeps nothing', instead: 'its message' };
  if (Symbol.iterator in value) {
    return { what: 'an iterator or a Set, of which JSON keeps nothing', instead: 'Array.from() of it' };
  }
  return undefined;
}
