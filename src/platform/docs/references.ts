import type {
  ComponentsObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from './openapi-types';

/** Resolves a reference to a schema. */
export function resolve(schema: SchemaObject | ReferenceObject, { schemas = {} }: ComponentsObject): SchemaObject {
  return '$ref' in schema ? (schemas[nameIn(schema)] as SchemaObject) : schema;
}

/** Resolves a reference to a response. */
export function responseAt(
  response: ResponseObject | ReferenceObject,
  { responses = {} }: ComponentsObject,
): ResponseObject {
  return '$ref' in response ? (responses[nameIn(response)] as ResponseObject) : response;
}

/** The name of the component that a reference refers to. */
export const nameIn = ({ $ref }: ReferenceObject): string => $ref.split('/').at(-1)!;

/** The schema of the resource that an operation answers, alone or as the item of a page. */
export function itemSchema(operation: OperationObject, components: ComponentsObject): SchemaObject | undefined {
  const data = dataOf(operation);
  const item = data && ('items' in data ? data.items : data);
  return item && resolve(item, components);
}

function dataOf({ responses }: OperationObject): SchemaObject | ReferenceObject | undefined {
  const success = (responses['200'] ?? responses['201']) as ResponseObject | undefined;
  const schema = success?.content?.['application/json']?.schema;
  return (schema as SchemaObject | undefined)?.properties?.data;
}

/** The nouns in a path that are followed by an id, in the singular: `user` in `/api/v1/users/{id}`. */
export function nounsBefore(path: string, isIdentity: (parameter: string) => boolean): string[] {
  const parameters = [...path.matchAll(/(?<=\/)([^/]+)\/\{([^{}]+)\}/g)];
  return parameters.filter(([, , name]) => isIdentity(name)).map(([, noun]) => singular(noun));
}

/** The singular in words: `credit-notes` becomes `credit note`. */
export function singular(nouns: string): string {
  return nouns
    .replaceAll('-', ' ')
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x|zz)es$/, '$1')
    .replace(/([^s])s$/, '$1');
}

/** Removes and returns what a decorator has left for the document; see {@link Extension}. */
export function takeExtension<T>(operation: OperationObject | ParameterObject, name: string): T | undefined {
  const extensions = operation as unknown as Record<string, T | undefined>;
  const value = extensions[name];
  delete extensions[name];
  return value;
}
