import type { Request } from 'express';

/** The error (500) for a value that can't be sent. Its message tells the author of the handler what to do. */
export const unwritable = ({ method, route, path }: Request, what: string, instead: string): Error =>
  new Error(
    `${method} ${(route as { path?: string } | undefined)?.path ?? path} can't be answered: its handler returned ${what}; ${instead}`,
  );

/**
 * Refuses values of which JSON.stringify() silently makes an empty object or a list of numbers.
 * @throws {Error} 500, with the advice in the log
 */
export function requireJson(value: unknown, request: Request): void {
  const found = typeof value === 'object' && value !== null ? oddObject(value) : oddPrimitive(value);
  if (found) throw unwritable(request, ...found);
}

type Odd = [what: string, instead: string];

function oddPrimitive(value: unknown): Odd | undefined {
  switch (typeof value) {
    case 'bigint':
      return ['a bigint, which JSON does not have', 'return a number or a text'];
    case 'function':
    case 'symbol':
      return [`a ${typeof value}, which JSON does not have`, 'return what it stands for'];
    default:
      return undefined;
  }
}

function oddObject(value: object): Odd | undefined {
  const prototype = Object.getPrototypeOf(value) as object | null;
  // Fast path: nearly all handlers return plain objects and lists.
  if (prototype === Object.prototype || prototype === Array.prototype) return undefined;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return ['bytes, which JSON does not have', 'return new StreamableFile(bytes)'];
  }
  if (value instanceof Error) return ['an error', 'throw it'];
  if ('toJSON' in value) return undefined;
  if (value instanceof Map) return ['a Map, of which JSON keeps nothing', 'return Object.fromEntries(map)'];
  if (Symbol.iterator in value && !Array.isArray(value)) {
    return ['an iterator or a Set, of which JSON keeps nothing', 'return Array.from() of it'];
  }
  return undefined;
}
