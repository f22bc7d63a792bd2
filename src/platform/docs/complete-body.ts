import { Extension } from '../http/route-keys';
import { ignoredAttributes } from '../input/ignored-attributes';
import type {
  ComponentsObject,
  OperationContext,
  OperationObject,
  ReferenceObject,
  RequestBodyObject,
  SchemaObject,
} from './openapi-types';
import { resolve, takeExtension } from './references';

const MERGE_PATCH = 'application/merge-patch+json';

export function completeBody(operation: OperationObject, { method, route, components }: OperationContext): void {
  const example = takeExtension<object>(operation, Extension.EXAMPLE);
  const body = operation.requestBody as RequestBodyObject | undefined;
  const content = body?.content;
  const json = content?.['application/json'];
  if (!json?.schema) return;
  if (route) tellIgnored(body!, ignoredAttributes(route.targets[0], route.owner));
  const schema = resolve(json.schema, components);
  refuseOthers(schema, components);
  // A PATCH applies no defaults.
  if (method === 'patch')
    Object.values(schema.properties ?? {}).forEach((property) => delete (property as SchemaObject).default);
  const isGiven = json.examples !== undefined || json.example !== undefined;
  const made = example ?? (isGiven ? undefined : exampleOf(schema, components));
  if (made !== undefined) json.example = made as object;
  if (method === 'patch') content![MERGE_PATCH] = { ...json };
}

function tellIgnored(body: RequestBodyObject, names: string[]): void {
  if (names.length === 0) return;
  const ignored = `The attributes ${names.map((name) => `\`${name}\``).join(', ')} are ignored, so that what was read can be sent back.`;
  body.description = [body.description, ignored].filter(Boolean).join('\n\n');
}

/** Refuses unknown attributes at every level, except in schemas that set `additionalProperties` themselves. */
function refuseOthers(schema: SchemaObject, components: ComponentsObject, seen = new Set<SchemaObject>()): void {
  // A class may contain a list of its own type.
  if (seen.has(schema)) return;
  seen.add(schema);
  const { properties = {}, items } = schema;
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  // In a combination of schemas, each one would refuse the attributes of the others.
  if (schema.properties && !schema.allOf && alternatives.length === 0) schema.additionalProperties ??= false;
  for (const inner of [items, ...alternatives, ...Object.values(properties).flatMap(partsOf)]) {
    if (inner && '$ref' in inner) refuseOthers(resolve(inner, components), components, seen);
  }
}

/** The schemas within an attribute. A reference with a description is an `allOf` of one. */
function partsOf(property: SchemaObject | ReferenceObject): (SchemaObject | ReferenceObject | undefined)[] {
  if ('$ref' in property) return [property];
  return [property.items, ...(property.allOf?.length === 1 ? property.allOf : [])];
}

/**
 * An example body that the service accepts. Attributes with a default are left out, as they often need more rights.
 * Undefined if a required attribute has no example.
 */
function exampleOf(schema: SchemaObject, components: ComponentsObject, depth = 0): unknown {
  if (schema.example !== undefined) return schema.example as unknown;
  if (depth > MAX_DEPTH) return undefined;
  const inside = (inner: SchemaObject | ReferenceObject) =>
    exampleOf(resolve(inner, components), components, depth + 1);
  const [alternative] = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  if (alternative) return inside(alternative);
  if (schema.items) return listOf(inside(schema.items));
  const parts = (schema.allOf ?? []).map(inside).filter((part) => part !== undefined);
  // An attribute of a named schema is an `allOf` of one, which needn't be an object: `@ApiProperty({ enum, enumName })`.
  if (!schema.properties) return parts.length > 1 ? Object.assign({}, ...parts) : (parts[0] ?? schema.enum?.[0]);
  const examples = Object.entries(schema.properties)
    .filter(([, property]) => '$ref' in property || property.default === undefined)
    .map(([name, property]): [string, unknown] => [name, inside(property)])
    .filter(([, example]) => example !== undefined);
  const own = Object.fromEntries(examples) as object;
  if (schema.required?.some((name) => !(name in own))) return undefined;
  return Object.assign({}, ...parts, own) as object;
}

const MAX_DEPTH = 5;

const listOf = (item: unknown): unknown[] | undefined => (item === undefined ? undefined : [item]);
