import { getSchemaPath } from '@nestjs/swagger';
import type { DeclaredRoute } from '../auth/declared-access';
import { includesOf, type Relation } from '../input/includes';
import { EMBEDDED } from '../lists/embedding';
import { includingOf } from '../pipeline/including';
import type { OperationContext, ParameterObject, SchemaObject } from './openapi-types';
import { paginationOf } from './schemas';

/** What `include` may name on a route. Undefined if the route doesn't take it, or has a parameter of its own of this name. */
function relationsOf(route: DeclaredRoute | undefined, method: string): readonly Relation[] | undefined {
  const dto = route && method === 'get' ? includingOf(route.targets[0], route.owner) : undefined;
  return dto && includesOf(dto);
}

/** The DTOs of all rows that some routes include, for the document: a route alone may not answer them. */
export function includedDtos(routes: DeclaredRoute[]): Relation['rows']['shown'][] {
  const dtos = routes.flatMap((route) => (relationsOf(route, 'get') ?? []).map(({ rows }) => rows.shown));
  return [...new Set(dtos)];
}

/** Documents `include`, or removes it from a list that includes nothing. */
export function completeInclude(parameters: ParameterObject[], { route, method }: OperationContext): void {
  const relations = relationsOf(route, method);
  if (!relations) return;
  const at = parameters.findIndex((parameter) => parameter.in === 'query' && parameter.name === 'include');
  if (at >= 0) parameters.splice(at, 1);
  if (relations.length > 0) parameters.push(includeParameter(relations.map(({ name }) => name)));
}

function includeParameter(names: string[]): ParameterObject {
  return {
    name: 'include',
    in: 'query',
    required: false,
    description:
      'The related rows to embed, each in a parameter of its own or separated by commas. They come beside the attributes that `fields` names.',
    schema: {
      type: 'array',
      items: { type: 'string', enum: names },
      minItems: 1,
      maxItems: names.length,
      uniqueItems: true,
      example: names.slice(0, 1),
    },
  };
}

/** The attributes that `include` adds to the rows of an answer. None of them is required. */
export function includedProperties({
  route,
  method,
  version,
}: OperationContext): NonNullable<SchemaObject['properties']> {
  const relations = relationsOf(route, method) ?? [];
  return Object.fromEntries(relations.map((relation) => [relation.name, embeddedSchema(relation, version)]));
}

function embeddedSchema({ key, rows, list }: Relation, version: OperationContext['version']): SchemaObject {
  const row = { $ref: getSchemaPath(rows.shown) };
  if (!list) {
    const description = `With \`include\`: the row whose id is \`${key}\`; null when there is none that you may read.`;
    // In the words of JSON Schema, which OpenAPI 3.1 uses.
    return { description, anyOf: [row, { type: 'null' }] };
  }
  return {
    type: 'object',
    description: `With \`include\`: the first page of the list, as \`/api/v${version}/${list(1)}\` is for the id 1.`,
    required: ['data', 'pagination'],
    properties: { data: { type: 'array', maxItems: EMBEDDED, items: row }, pagination: paginationOf(version) },
  };
}
