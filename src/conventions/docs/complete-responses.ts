import { type Version, vendorMediaType } from '../requests/version';
import { deprecationHeaders } from '../responses/deprecated';
import { Extension } from './api.decorators';
import { conditionHeaders, isTaggedRead } from './conditions';
import { type ErrorExample, errorExample } from './error-examples';
import { errorResponse } from './error-responses';
import { expectedErrors } from './expected-errors';
import { headerText, MAX_HEADERS } from './headers';
import type { HeadersObject, OperationContext, OperationObject, ResponseObject, SchemaObject } from './openapi-types';
import { itemSchema, takeExtension } from './references';
import { PAGINATION } from './schemas';

const LINKS: Record<Version, Record<string, string>> = {
  1: { first: '?page=0', next: '?page=1', last: '?page=2' },
  2: { first: '', next: '?cursor=q1x0Z3Jm0uVhC2hXl4mWzVszLDMsZmFsc2Vd' },
};

/** Four links, each with the parameters of the request, which is no longer than its headers may be. */
const MAX_LINK = 5 * MAX_HEADERS;
/** A path of nouns and ids. */
const MAX_LOCATION = 256;

const DEPRECATION_HEADERS: Record<string, string> = {
  Deprecation: 'Since when this is not to be used any more (RFC 9745).',
  Sunset: 'From when on it may be gone (RFC 8594).',
  Link: 'What to do instead.',
};

export function completeResponses(operation: OperationObject, context: OperationContext): void {
  const { responses } = operation;
  if (isTaggedRead(context)) responses['304'] = { description: 'Not Modified' };
  for (const [status, response] of Object.entries(responses) as [string, ResponseObject][]) {
    // The compiler's plugin adds the status that Nest has by default, without a word, whatever the route's own is.
    if (response.description === '') delete responses[status];
    else complete(response, status, operation, context);
  }
  const raised = takeExtension<ErrorExample[]>(operation, Extension.RAISES) ?? [];
  const errors = [...expectedErrors(operation, context).map(errorExample), ...raised];
  for (const status of new Set(errors.map((error) => error.status))) {
    const ofStatus = errors.filter((error) => error.status === status);
    responses[status] ??= errorResponse(ofStatus, context);
  }
}

function complete(
  response: ResponseObject,
  status: string,
  operation: OperationObject,
  context: OperationContext,
): void {
  response.headers = { ...headersOf(status, operation, context), ...response.headers };
  const schema = response.content?.['application/json']?.schema as SchemaObject | undefined;
  if (!schema || !context.path.startsWith('/api/')) return;
  // One object for all versions would get the last one's.
  const media = { schema: context.pages ? withPagination(schema, context) : schema };
  response.content = { 'application/json': media, [vendorMediaType(context.version)]: media };
}

function withPagination(schema: SchemaObject, { version }: OperationContext): SchemaObject {
  const { timestamp, ...properties } = schema.properties!;
  return {
    ...schema,
    required: [...schema.required!, 'pagination'],
    properties: { ...properties, pagination: PAGINATION[version], timestamp },
  };
}

function headersOf(status: string, operation: OperationObject, context: OperationContext): HeadersObject {
  return {
    ...context.headers,
    ...(status === '201' && { Location: locationHeader(operation, context) }),
    ...(status === '200' && context.pages && { Link: linkHeader(context) }),
    ...conditionHeaders(status, context),
    ...deprecationHeadersOf(context),
  };
}

function deprecationHeadersOf({ deprecation }: OperationContext): HeadersObject {
  if (!deprecation) return {};
  const described = Object.entries(deprecationHeaders(deprecation)).map(([name, example]) => [
    name,
    { description: DEPRECATION_HEADERS[name], schema: headerText(MAX_LINK), example },
  ]);
  return Object.fromEntries(described) as HeadersObject;
}

function locationHeader(operation: OperationObject, { path, components }: OperationContext): HeadersObject[string] {
  const hasId = itemSchema(operation, components)?.properties?.id !== undefined;
  const [, api, version, ...nouns] = path.split('/');
  const example = hasId ? `/${api}/${version}/${nouns.at(-1)}/1` : path;
  return {
    description: 'Where it is from now on.',
    required: true,
    schema: headerText(MAX_LOCATION, '^/[\\x21-\\x7e]*$'),
    example,
  };
}

function linkHeader({ path, version }: OperationContext): HeadersObject[string] {
  const links = LINKS[version];
  const example = Object.entries(links).map(([relation, query]) => `<${path}${query}>; rel="${relation}"`);
  const description = `Where the other pages are (RFC 8288): ${version === 1 ? 'first, prev, next, last' : 'first, prev, next'}.`;
  return { description, required: true, schema: headerText(MAX_LINK), example: example.join(', ') };
}
