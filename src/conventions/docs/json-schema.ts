import type { OpenAPIObject } from '@nestjs/swagger';

type Node = Record<string, unknown>;

/**
 * OpenAPI 3.1 takes JSON Schema as it is, where examples are a list and null is a type; `@nestjs/swagger` writes `example` and `nullable` of
 * OpenAPI 3.0 whatever version the document says it has. Names of schemas lose their `Dto`, which means nothing to a caller.
 */
export function toJsonSchema(document: OpenAPIObject): OpenAPIObject {
  const renamed = JSON.parse(JSON.stringify(document).replaceAll(/(#\/components\/schemas\/\w+)Dto"/g, '$1"')) as Node;
  const components = renamed.components as Node;
  components.schemas = mapValues(components.schemas, convert, (name) => name.replace(/Dto$/, ''));
  return convertInline(renamed) as OpenAPIObject;
}

/** Schemas stand under `schema` wherever they stand outside of the components. */
function convertInline(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convertInline);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'schema' ? convert(value) : convertInline(value)]),
  );
}

function convert(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { example, nullable, properties, items, additionalProperties, ...rest } = schema as Node;
  return {
    ...rest,
    ...(nullable === true && { type: [rest.type, 'null'] }),
    ...(example !== undefined && { examples: [example] }),
    ...(items !== undefined && { items: convert(items) }),
    ...(properties !== undefined && { properties: mapValues(properties, convert) }),
    ...(additionalProperties !== undefined && { additionalProperties: convert(additionalProperties) }),
  };
}

function mapValues(map: unknown, change: (value: unknown) => unknown, rename = (name: string) => name): Node {
  return Object.fromEntries(Object.entries(map as Node).map(([name, value]) => [rename(name), change(value)]));
}
