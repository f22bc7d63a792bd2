import { Extension } from './api.decorators';
import type {
  ComponentsObject,
  OperationContext,
  OperationObject,
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
  json.example = example ?? exampleOf(schema, components);
  if (method === 'patch') content![MERGE_PATCH] = { ...json };
}

/** Unknown attributes are refused, at every level. */
function refuseOthers(schema: SchemaObject, components: ComponentsObject): void {
  schema.additionalProperties = false;
  for (const property of Object.values(schema.properties ?? {})) {
    const { items } = property as SchemaObject;
    if (items && '$ref' in items) refuseOthers(resolve(items, components), components);
  }
}

/** A body that the service accepts: what has a default may be left out, and often needs more rights. */
function exampleOf({ properties = {} }: SchemaObject, components: ComponentsObject): object {
  const examples = Object.entries(properties as Record<string, SchemaObject>)
    .filter(([, property]) => property.default === undefined)
    .map(([name, property]) => [name, exampleOfAttribute(property, components)]);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined)) as object;
}

function exampleOfAttribute({ example, items }: SchemaObject, components: ComponentsObject): unknown {
  return (example as unknown) ?? (items && [exampleOf(resolve(items, components), components)]);
}
