const ORDINARY = { configurable: true, enumerable: true, writable: true };

/**
 * A deep copy of a row's value, so that changes of one copy don't affect the other. Rows contain what the driver and
 * JSON produce: primitives, dates, bytes, lists, and objects of these.
 */
export function copyOf<T>(value: T): T;
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Date(value);
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (Array.isArray(value)) return value.map((one) => copyOf<unknown>(one));
  const copy = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>;
  for (const name of Object.keys(value)) {
    const own = copyOf((value as Record<string, unknown>)[name]);
    // JSON of a column may have such an attribute; an assignment would make it the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: own, ...ORDINARY });
    else copy[name] = own;
  }
  return copy;
}
