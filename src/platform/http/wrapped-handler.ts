export type AnyHandler = (this: unknown, ...values: unknown[]) => unknown;

/**
 * A handler around another one. Nest calls it with the arguments that its pipes have made. It has the name of the inner
 * one, and the metadata of the decorators that were applied before.
 * @param around gets the inner handler, bound to its controller
 */
export function wrapped(
  inner: AnyHandler,
  name: string | symbol,
  around: (handler: (values: unknown[]) => unknown, values: unknown[]) => unknown,
): AnyHandler {
  const wrapper = function (this: unknown, ...values: unknown[]): unknown {
    return around((given) => inner.apply(this, given), values);
  };
  for (const key of Reflect.getMetadataKeys(inner) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, inner), wrapper);
  }
  return Object.defineProperty(wrapper, 'name', { value: name });
}
