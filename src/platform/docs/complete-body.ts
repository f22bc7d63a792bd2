import { Extension } from '../http/route-keys';
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

export function completeBody(operation: OperationObject, { method, components }: OperationContext): void {
  const example = takeExtension<object>(operation, Extension.EXAMPLE);
  const content = (operation.requestBody as RequestBodyObject | undefined)?.content;
  const json = content?.['application/json'];
  if (!json?.schema) return;
  const schema = resolve(json.schema, components);
  refuseOthers(schema, components);
  // What a PATCH leaves out stays as it is.
  if (method === 'patch')
    Object.values(schema.properties ?? {}).forEach((property) => delete (property as SchemaObject).default);
  const isGiven = json.examples !== undefined || json.example !== undefined;
  const made = example ?? (isGiven ? undefined : exampleOf(schema, components));
  if (made !== undefined) json.example = made as object;
  if (method === 'patch') content![MERGE_PATCH] = { ...json };
}

/** Unknown attributes are refused, at every level; a schema that says itself what else there may be is right. */
function refuseOthers(schema: SchemaObject, components: ComponentsObject, seen = new Set<SchemaObject>()): void {
  // A class may have a list of its own kind.
  if (seen.has(schema)) return;
  seen.add(schema);
  const { properties = {}, items } = schema;
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  // Several together would each refuse the others' attributes.
  if (schema.properties && !schema.allOf && alternatives.length === 0) schema.additionalProperties ??= false;
  for (const inner of [items, ...alternatives, ...Object.values(properties).flatMap(partsOf)]) {
    if (inner && '$ref' in inner) refuseOthers(resolve(inner, components), components, seen);
  }
}

/** What an attribute is made of: a reference with a description beside it is the only one of `allOf`. */
function partsOf(property: SchemaObject | ReferenceObject): (SchemaObject | ReferenceObject | undefined)[] {
  if ('$ref' in property) return [property];
  return [property.items, ...(property.allOf?.length === 1 ? property.allOf : [])];
}

/**
 * A body that the service accepts: what has a default may be left out, and often needs more rights. Undefined where
 * something that it needs has no example.
 */
function exampleOf(schema: SchemaObject, components: ComponentsObject, depth = 0): unknown {
  if (schema.example !== undefined) return schema.example as unknown;
  if (depth > MAX_DEPTH) return undefined;
  const inside = (inner: SchemaObject | ReferenceObject) =>
    exampleOf(resolve(inner, components), components, depth + 1);
  const [alternative] = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  if (alternative) return inside(alternative);
  if (schema.items) return listOf(inside(schema.items));
  const parts = (schema.allOf ?? []).map(inside);
  if (!schema.properties) return parts.length > 0 ? Object.assign({}, ...parts) : undefined;
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
