import { Moment } from '../text/moment';

const ORDINARY = { configurable: true, enumerable: true, writable: true };

/**
 * A deep copy of a row's value, so that changes of one copy don't affect the other. Rows contain what the driver and
 * JSON produce: primitives, dates, bytes, lists, and objects of these.
 */
export function copyOf<T>(value: T): T;
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Moment(value);
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (Array.isArray(value)) return value.map((one) => copyOf<unknown>(one));
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype ? copyOfPlain(value) : copyOfInstance(value, prototype);
}

/** Fast path: V8 copies the object as it is in half the time of copying it by its names. */
function copyOfPlain(value: object): object {
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) {
    const shared = copy[name];
    if (typeof shared === 'object' && shared !== null && Object.hasOwn(copy, name))
      copy[name] = copyOf<unknown>(shared);
  }
  return copy;
}

function copyOfInstance(value: object, prototype: object | null): object {
  const copy = Object.create(prototype) as Record<string, unknown>;
  for (const name of Object.keys(value)) {
    const own = copyOf((value as Record<string, unknown>)[name]);
    // JSON of a column may have such an attribute; an assignment would make it the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: own, ...ORDINARY });
    else copy[name] = own;
  }
  return copy;
}
