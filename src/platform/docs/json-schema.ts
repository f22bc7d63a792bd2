import type { OpenAPIObject } from '@nestjs/swagger';

type Node = Record<string, unknown>;

/**
 * Converts schemas to JSON Schema, which OpenAPI 3.1 uses: examples are a list, and null is a type. `@nestjs/swagger`
 * always writes `example` and `nullable` of OpenAPI 3.0. Schemas get the names that callers see.
 */
export function toJsonSchema(document: OpenAPIObject): OpenAPIObject {
  const schemas = Object.keys(document.components?.schemas ?? {});
  const names = publicNames(schemas);
  const text = JSON.stringify(document).replaceAll(
    /(#\/components\/schemas\/)(\w+)"/g,
    (_, path: string, name: string) => `${path}${names.get(name) ?? name}"`,
  );
  const renamed = JSON.parse(text) as Node;
  const components = renamed.components as Node;
  components.schemas = mapValues(components.schemas, convert, (name) => names.get(name) ?? name);
  return convertInline(renamed) as OpenAPIObject;
}

/**
 * The endings of the names of requests' classes: `CreateOrder` would be called like the operation `createOrder`, which some
 * generators can't have.
 */
const SUFFIXES: Record<string, string> = { Create: 'Input', Replace: 'Replacement', Patch: 'Patch', Update: 'Patch' };

/**
 * Names without `Dto`, which means nothing to callers: `OrderDto` becomes `Order`, and `CreateOrderDto` `OrderInput`. A
 * name stays if another schema has the short one.
 */
function publicNames(schemas: string[]): Map<string, string> {
  const taken = new Set(schemas);
  const names = schemas.map((name): [string, string] => {
    const short = publicName(name);
    if (short === name || taken.has(short)) return [name, name];
    taken.add(short);
    return [name, short];
  });
  return new Map(names);
}

/** The name of a class in the document, unless another class has it. */
export function publicName(name: string): string {
  const [, verb, noun] = /^(Create|Replace|Patch|Update)([A-Z]\w*)Dto$/.exec(name) ?? [];
  return verb ? noun + SUFFIXES[verb] : name.replace(/(?<=.)Dto$/, '');
}

/** Converts the schemas outside of the components, which are always under `schema`. */
function convertInline(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convertInline);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'schema' ? convert(value) : convertInline(value)]),
  );
}

function convert(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { example, nullable, properties, items, additionalProperties, not, ...rest } = schema as Node;
  const converted: Node = {
    ...rest,
    ...exclusiveBounds(rest),
    ...(example !== undefined && { examples: [example] }),
    ...(items !== undefined && { items: convert(items) }),
    ...(properties !== undefined && { properties: mapValues(properties, convert) }),
    ...(additionalProperties !== undefined && { additionalProperties: convert(additionalProperties) }),
    ...(not !== undefined && { not: convert(not) }),
  };
  for (const name of COMBINATIONS) if (Array.isArray(rest[name])) converted[name] = rest[name].map(convert);
  return nullable === true ? orNull(converted) : converted;
}

const COMBINATIONS = ['allOf', 'anyOf', 'oneOf'];
const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
];

/** In OpenAPI 3.0 an exclusive bound is a boolean beside the bound; here it is a number. */
function exclusiveBounds(schema: Node): Node {
  const changes = BOUNDS.filter(([exclusive]) => typeof schema[exclusive] === 'boolean').map(([exclusive, bound]) =>
    schema[exclusive] ? { [exclusive]: schema[bound], [bound]: undefined } : { [exclusive]: undefined },
  );
  return Object.assign({}, ...changes) as Node;
}

/** A schema without a type, such as a reference, becomes one of two alternatives. */
function orNull({ description, examples, ...schema }: Node): Node {
  const said = { ...(description !== undefined && { description }), ...(examples !== undefined && { examples }) };
  if (schema.type === undefined) return { ...said, anyOf: [schema, { type: 'null' }] };
  const names = schema.enum as unknown[] | undefined;
  const type = [...new Set([schema.type, 'null'].flat())];
  return { ...schema, type, ...(names && { enum: [...new Set([...names, null])] }), ...said };
}

function mapValues(map: unknown, change: (value: unknown) => unknown, rename = (name: string) => name): Node {
  return Object.fromEntries(Object.entries(map as Node).map(([name, value]) => [rename(name), change(value)]));
}
