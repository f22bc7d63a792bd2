/**
 * OpenAPI 3.1 takes JSON Schema as it is, where null is a type among others; `@nestjs/swagger` writes the `nullable` of
 * OpenAPI 3.0 whatever version the document says it has.
 */
export function toJsonSchema<T>(node: T): T {
  if (Array.isArray(node)) return node.map((item: unknown) => toJsonSchema(item)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = node as Record<string, unknown>;
  const converted = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, toJsonSchema(value)]));
  if (nullable !== true) {
    // A property may be called `nullable`: then it is a schema, not the keyword.
    return (nullable === undefined ? converted : { ...converted, nullable: toJsonSchema(nullable) }) as T;
  }
  return { ...converted, type: [converted.type, 'null'].flat() } as T;
}
