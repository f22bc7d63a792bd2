import type { OpenAPIObject } from '@nestjs/swagger';
import type { OperationObject, ParameterObject, PathItemObject } from './openapi-types';

const NAMES = /\{([^{}]*)\}/g;

/**
 * The paths of a document, each once: to OpenAPI two paths are one if only the names of their parameters differ, and a document
 * that has both is invalid. The operations of the second stand at the first, and their parameters have its names.
 */
export function joinedPaths(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const joined = new Map<string, [path: string, item: PathItemObject]>();
  for (const [path, item] of Object.entries<PathItemObject>(paths)) {
    const place = path.replace(NAMES, '{}');
    const [first, others] = joined.get(place) ?? [path, {}];
    joined.set(place, [first, { ...others, ...(first === path ? item : renamed(item, path, first)) }]);
  }
  return Object.fromEntries(joined.values());
}

function renamed(item: PathItemObject, path: string, first: string): PathItemObject {
  const names = namesIn(first);
  const nameOf = new Map(namesIn(path).map((name, index) => [name, names[index]]));
  const operations = Object.entries(item as Record<string, OperationObject>);
  return Object.fromEntries(
    operations.map(([method, operation]) => [
      method,
      {
        ...operation,
        parameters: operation.parameters?.map((parameter) => named(parameter as ParameterObject, nameOf)),
      },
    ]),
  );
}

const namesIn = (path: string): string[] => Array.from(path.matchAll(NAMES), ([, name]) => name);

const named = (parameter: ParameterObject, nameOf: Map<string, string>): ParameterObject =>
  parameter.in === 'path' ? { ...parameter, name: nameOf.get(parameter.name) ?? parameter.name } : parameter;
