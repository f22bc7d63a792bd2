import { MAX_ID } from '../../database/resource.entity';
import { PAGE_PARAMETERS } from '../lists/list-query';
import { KEY_PARAMETER } from '../requests/key.pipe';
import { VERSIONS } from '../requests/version';
import { Extension } from './api.decorators';
import { conditionParameters } from './conditions';
import type { OperationContext, OperationObject, ParameterObject, SchemaObject } from './openapi-types';
import { itemSchema, singular, takeExtension } from './references';

export function completeParameters(operation: OperationObject, context: OperationContext): void {
  const known = (operation.parameters ?? []) as ParameterObject[];
  const parameters = known.filter(({ name }) => !namesOfOtherVersions(context).includes(name));
  operation.parameters = parameters;
  const choosable = context.item && context.method === 'get';
  if (choosable && !parameters.some(({ name }) => name === 'fields')) parameters.push({ name: 'fields', in: 'query' });
  for (const parameter of parameters) {
    if (parameter.in === 'path') completeId(parameter, context);
    else if (parameter.name === 'fields') completeFields(parameter, attributesOf(operation, context));
    else if (!takeExtension<boolean>(parameter, Extension.FILLED)) moveExample(parameter);
    else fill(parameter);
  }
  parameters.push(...conditionParameters(context));
  parameters.sort((one, other) => Number(other.required ?? false) - Number(one.required ?? false));
}

/** How other versions of the API page. */
function namesOfOtherVersions({ version }: OperationContext): string[] {
  return VERSIONS.filter((one) => one !== version).map((one) => PAGE_PARAMETERS[one]);
}

/** A resource whose path must not be guessed is named by a key. */
function completeKey(parameter: ParameterObject, noun: string): void {
  parameter.schema = { type: 'string', format: 'uuid', minLength: 36, maxLength: 36 };
  parameter.example = '3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11';
  parameter.description ??= `The key of the ${noun}.`;
}

/** Every other path parameter is the id of the resource whose noun stands before it. */
function completeId(parameter: ParameterObject, { path }: OperationContext): void {
  const noun = path.split('/').at(path.split('/').indexOf(`{${parameter.name}}`) - 1) ?? '';
  if (parameter.name === KEY_PARAMETER) return completeKey(parameter, singular(noun));
  parameter.schema = { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID };
  parameter.example = 1;
  parameter.description ??= `The id of the ${singular(noun)}.`;
}

function completeFields(parameter: ParameterObject, attributes: string[]): void {
  const names: SchemaObject = { type: 'string', enum: attributes };
  Object.assign(parameter, {
    required: false,
    description: 'The attributes to return, separated by commas; all of them when left out.',
    // Comma-separated, as OpenAPI says it.
    style: 'form',
    explode: false,
    schema: { type: 'array', items: names, minItems: 1, maxItems: attributes.length, example: attributes.slice(0, 1) },
  });
}

/** The page would send what stands on the parameter itself; what stands in its schema is for reading. */
function moveExample(parameter: ParameterObject): void {
  if (parameter.example === undefined) return;
  Object.assign(parameter.schema ?? {}, { example: parameter.example as unknown });
  delete parameter.example;
}

/** The page sends the example, unless somebody types something else. */
function fill(parameter: ParameterObject): void {
  const schema = { ...(parameter.schema as SchemaObject) };
  Object.assign(parameter, { schema, example: schema.example as unknown });
  delete schema.example;
}

function attributesOf(operation: OperationObject, { components }: OperationContext): string[] {
  return Object.keys(itemSchema(operation, components)?.properties ?? {});
}
