import { Extension } from './api.decorators';
import { type ErrorExample, errorExample } from './error-examples';
import { errorResponse } from './error-responses';
import { expectedErrors } from './expected-errors';
import type { HeadersObject, OperationContext, OperationObject, ResponseObject } from './openapi-types';
import { itemSchema, takeExtension } from './references';

export function completeResponses(operation: OperationObject, context: OperationContext): void {
  const { responses } = operation;
  for (const [status, response] of Object.entries(responses) as [string, ResponseObject][]) {
    // The compiler's plugin adds the status that Nest has by default, without a word, whatever the route's own is.
    if (response.description === '') delete responses[status];
    else response.headers = { ...headersOf(status, operation, context), ...response.headers };
  }
  const raised = takeExtension<ErrorExample[]>(operation, Extension.RAISES) ?? [];
  const errors = [...expectedErrors(operation, context).map(errorExample), ...raised];
  for (const status of new Set(errors.map((error) => error.status))) {
    const ofStatus = errors.filter((error) => error.status === status);
    responses[status] ??= errorResponse(ofStatus, context.components);
  }
}

function headersOf(status: string, operation: OperationObject, context: OperationContext): HeadersObject {
  const pages = operation.parameters?.some((parameter) => 'name' in parameter && parameter.name === 'page');
  return {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ...(status === '201' && { Location: locationHeader(operation, context) }),
    ...(status === '200' && pages && { Link: linkHeader(context) }),
  };
}

function locationHeader(operation: OperationObject, { path, components }: OperationContext): HeadersObject[string] {
  const hasId = itemSchema(operation, components)?.properties?.id !== undefined;
  const example = hasId ? `/api/v1/${path.split('/').at(-1)}/1` : path;
  return { description: 'Where it is from now on.', schema: { type: 'string' }, example };
}

function linkHeader({ path }: OperationContext): HeadersObject[string] {
  const links = { first: 0, next: 1, last: 2 };
  const example = Object.entries(links).map(([relation, page]) => `<${path}?page=${page}>; rel="${relation}"`);
  const description = 'The first, previous, next and last page (RFC 8288).';
  return { description, schema: { type: 'string' }, example: example.join(', ') };
}
