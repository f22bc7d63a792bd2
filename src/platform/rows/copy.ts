/**
 * A value of a row for somebody else: what one of the two does to it, the other doesn't see. Rows hold what the driver and
 * JSON make: primitives, dates, bytes, lists, and objects of all of them.
 */
export function copyOf<T>(value: T): T;
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Date(value);
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (Array.isArray(value)) return value.map((one) => copyOf<unknown>(one));
  const copy = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>;
  for (const name of Object.keys(value)) copy[name] = copyOf((value as Record<string, unknown>)[name]);
  return copy;
}
