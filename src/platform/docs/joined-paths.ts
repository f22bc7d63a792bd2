import type { OpenAPIObject } from '@nestjs/swagger';
import { PARAMETER } from './answered-paths';
import type { OperationObject, ParameterObject, PathItemObject } from './openapi-types';
import { nameInWords } from './path-parameters';

/** How links and callbacks name a parameter. */
const EXPRESSIONS = /(?<=\$request\.path\.)\w+/g;

/** The names of a path's parameters in another path, by those that they have. */
type Names = Map<string, string>;

/**
 * The paths of a document, each once: to OpenAPI two paths are one if only the names of their parameters differ, and a document
 * that has both is invalid. The operations of the second stand at the first, and their parameters have its names.
 */
export function joinedPaths(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const joined = new Map<string, [path: string, item: PathItemObject]>();
  for (const [path, item] of Object.entries<PathItemObject>(paths)) {
    const place = path.replace(PARAMETER, '{}');
    const [first, others] = joined.get(place) ?? [path, {}];
    joined.set(place, [first, { ...others, ...(first === path ? item : moved(item, path, first)) }]);
  }
  return Object.fromEntries(joined.values());
}

function moved(item: PathItemObject, path: string, first: string): PathItemObject {
  const names = namesIn(first);
  const nameOf: Names = new Map(namesIn(path).map((name, index) => [name, names[index]]));
  const change = (text: string) =>
    text.replaceAll(path, first).replace(EXPRESSIONS, (name) => nameOf.get(name) ?? name);
  const operations = Object.entries(item as Record<string, OperationObject>);
  return Object.fromEntries(
    operations.map(([method, operation]) => {
      const parameters = operation.parameters?.map((parameter) => renamed(parameter as ParameterObject, nameOf));
      return [method, withTexts({ ...operation, parameters }, change)];
    }),
  );
}

const namesIn = (path: string): string[] => Array.from(path.matchAll(PARAMETER), ([, name]) => name);

function renamed(parameter: ParameterObject, nameOf: Names): ParameterObject {
  const name = parameter.in === 'path' ? nameOf.get(parameter.name) : undefined;
  if (name === undefined) return parameter;
  const { description } = parameter;
  return {
    ...parameter,
    name,
    description: description === nameInWords(parameter.name) ? nameInWords(name) : description,
  };
}

/** The same with each text changed, also those of examples, and the expressions that are keys. */
function withTexts<T>(value: T, change: (text: string) => string): T;
function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one: unknown) => withTexts(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [change(key), withTexts(one as unknown, change)]),
  );
}
