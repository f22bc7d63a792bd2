import { isDeepStrictEqual } from 'node:util';
import { includedProperties } from './included-schemas';
import type {
  ComponentsObject,
  OperationContext,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  SchemaObject,
} from './openapi-types';
import { nameIn, resolve } from './references';
import { sendsItself } from './route-arguments';
import { envelopeSchema, paginationOf } from './schemas';

type Schema = SchemaObject | ReferenceObject;

/**
 * The schema of a success: the documented type of a handler's value in the envelope. That of a resource, or of a page of
 * resources, is a component with a name, such as `ProductEnvelope` and `ProductPage`.
 */
export function answerSchema(
  schema: SchemaObject,
  status: string,
  operation: OperationObject,
  context: OperationContext,
): Schema {
  if (!/^2\d\d$/.test(status)) return schema;
  const read = status === '200' ? operation : undefined;
  if (context.pages) return named(withPagination(schema, context), read, context);
  if (isWhole(schema, context)) return schema;
  return named(isEnvelope(schema) ? schema : envelopeSchema(schema), read, context);
}

/** True if the value leaves as it is, or is an envelope by itself. */
function isWhole(schema: SchemaObject, { route, components }: OperationContext): boolean {
  return sendsItself(route) || ('$ref' in schema && isEnvelope(resolve(schema, components)));
}

const isEnvelope = ({ properties = {} }: SchemaObject): boolean =>
  ['code', 'data', 'timestamp'].every((name) => name in properties);

function withPagination(schema: SchemaObject, { version }: OperationContext): SchemaObject {
  const { timestamp, ...properties } = schema.properties!;
  return {
    ...schema,
    required: [...schema.required!, 'pagination'],
    properties: { ...properties, pagination: paginationOf(version), timestamp },
  };
}

/** @param read the operation, if the answer may be reduced by `fields` or extended by `include` */
function named(envelope: SchemaObject, read: OperationObject | undefined, context: OperationContext): Schema {
  const data = envelope.properties!.data;
  const isList = 'items' in data && data.items !== undefined;
  const item = isList ? data.items : data;
  // Any other list is a team's own.
  if (!('$ref' in item!) || isList !== context.pages) return envelope;
  const view = read ? viewOf(item, read, context) : item;
  const shown = isList ? { ...data, items: view } : view;
  const properties = { ...envelope.properties, data: shown };
  const name = isList
    ? `${shortNameOf(item)}Page`
    : `${'$ref' in view ? shortNameOf(view) : shortNameOf(item)}Envelope`;
  return component(name, { ...envelope, properties }, context.components);
}

/**
 * What a read shows of a resource: the attributes that `fields` chooses, so none is required (D-248), and the rows that
 * `include` adds.
 */
function viewOf(item: ReferenceObject, { parameters }: OperationObject, context: OperationContext): Schema {
  const { required, ...schema } = resolve(item, context.components);
  const choosable = (parameters as ParameterObject[]).some((one) => one.in === 'query' && one.name === 'fields');
  const included = includedProperties(context);
  if (!choosable && Object.keys(included).length === 0) return item;
  const view = { ...schema, properties: { ...schema.properties, ...included }, ...(!choosable && { required }) };
  return component(`${shortNameOf(item)}View`, view, context.components);
}

const shortNameOf = (reference: ReferenceObject): string => nameIn(reference).replace(/(?<=.)Dto$/, '');

/** A reference to the schema by its name. The schema itself if another one has the name. */
function component(name: string, schema: SchemaObject, components: ComponentsObject): Schema {
  const known = ((components.schemas ??= {})[name] ??= schema);
  return isDeepStrictEqual(known, schema) ? { $ref: `#/components/schemas/${name}` } : schema;
}
