import { PARAMETERS_OF } from '../lists/list-query';
import { VERSIONS } from '../http/api-version';
import { Extension } from '../http/route-keys';
import { isRepeatable } from '../input/repeatable';
import { routeInput } from '../pipeline/route-input';
import { conditionParameters } from './conditions';
import { completeInclude } from './included-schemas';
import type { OperationContext, OperationObject, ParameterObject, SchemaObject } from './openapi-types';
import { completePathParameter, undeclaredPathParameters } from './path-parameters';
import { itemSchema, takeExtension } from './references';

export function completeParameters(operation: OperationObject, context: OperationContext): void {
  const known = (operation.parameters ?? []) as ParameterObject[];
  const parameters = known.filter(({ name }) => !namesOfOtherVersions(context).includes(name));
  parameters.push(...undeclaredPathParameters(context.path, parameters));
  operation.parameters = parameters;
  const choosable = context.item && context.method === 'get';
  if (choosable && !parameters.some(({ name }) => name === 'fields')) parameters.push({ name: 'fields', in: 'query' });
  for (const parameter of parameters) {
    if (parameter.in === 'path') completePathParameter(parameter, context);
    else if (isFieldList(parameter, operation, context)) completeFields(parameter, attributesOf(operation, context));
    else if (!takeExtension<boolean>(parameter, Extension.FILLED)) moveExample(parameter);
    else fill(parameter);
  }
  completeInclude(parameters, context);
  for (const parameter of parameters) if (isRepeated(parameter)) Object.assign(parameter, REPEATED);
  groupParts(parameters);
  parameters.push(...conditionParameters(context));
  parameters.sort((one, other) => Number(other.required ?? false) - Number(one.required ?? false));
}

/** The parameters of lists in other versions of the API. */
function namesOfOtherVersions({ version, route, pages }: OperationContext): string[] {
  if (!(route ? routeInput(route.targets[0], route.owner).pages : pages)) return [];
  return VERSIONS.filter((one) => one !== version).flatMap((one) => PARAMETERS_OF[one]);
}

/** A part of a parameter, such as `amount[gte]`. */
const PART = /^(\w+)\[(\w+)\]$/;

/** Makes `amount[gte]` and its like an object `amount` in the style `deepObject`, unless `amount` itself is a parameter. */
function groupParts(parameters: ParameterObject[]): void {
  const groups = new Map<string, ParameterObject[]>();
  for (const parameter of parameters) {
    const [, name] = (parameter.in === 'query' && PART.exec(parameter.name)) || [];
    if (name && !parameters.some((other) => other.name === name)) {
      groups.set(name, [...(groups.get(name) ?? []), parameter]);
    }
  }
  for (const [name, parts] of groups) {
    parameters.splice(parameters.indexOf(parts[0]), 1, deepObject(name, parts));
    for (const part of parts.slice(1)) parameters.splice(parameters.indexOf(part), 1);
  }
}

function deepObject(name: string, parts: ParameterObject[]): ParameterObject {
  const properties = parts.map(({ name: part, schema, description }) => {
    return [PART.exec(part)![2], { ...(schema as SchemaObject), description }] as const;
  });
  return {
    name,
    in: 'query',
    required: false,
    description: `Only items whose \`${name}\` fulfils all that is given, as in \`${parts[0].name}\`.`,
    style: 'deepObject',
    explode: true,
    schema: { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false },
    // Swagger UI would send values of its own.
    example: {},
  };
}

/** True for `fields` of a single resource or a page. Elsewhere a team's own parameter may have this name. */
function isFieldList(parameter: ParameterObject, operation: OperationObject, context: OperationContext): boolean {
  return parameter.in === 'query' && parameter.name === 'fields' && attributesOf(operation, context).length > 0;
}

/** How the values of a list are sent, in OpenAPI's terms. Commas do as well: not all generators of clients ask the document. */
const REPEATED = { style: 'form', explode: true };

const isRepeated = ({ in: place, name, schema }: ParameterObject): boolean =>
  place === 'query' && isRepeatable(name) && (schema as SchemaObject | undefined)?.type === 'array';

function completeFields(parameter: ParameterObject, attributes: string[]): void {
  const names: SchemaObject = { type: 'string', enum: attributes };
  Object.assign(parameter, {
    required: false,
    description:
      'The attributes to return, each in a parameter of its own or separated by commas. Default: all attributes.',
    schema: { type: 'array', items: names, minItems: 1, maxItems: attributes.length, example: attributes.slice(0, 1) },
  });
}

/** Moves the example into the schema: Swagger UI would send an example of the parameter itself. */
function moveExample(parameter: ParameterObject): void {
  if (parameter.example === undefined) return;
  parameter.schema = { ...(parameter.schema ?? { type: 'string' }), example: parameter.example as unknown };
  delete parameter.example;
}

/** Makes Swagger UI send the example by default. */
function fill(parameter: ParameterObject): void {
  const schema = { ...(parameter.schema as SchemaObject) };
  Object.assign(parameter, { schema, example: schema.example as unknown });
  delete schema.example;
}

function attributesOf(operation: OperationObject, { components }: OperationContext): string[] {
  return Object.keys(itemSchema(operation, components)?.properties ?? {});
}
