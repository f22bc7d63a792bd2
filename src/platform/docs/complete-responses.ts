import { STATUS_CODES } from 'node:http';
import { type Version } from '../http/api-version';
import { deprecationHeaders } from '../http/deprecated';
import { Extension } from '../http/route-keys';
import { answerSchema } from './answer-schemas';
import { conditionHeaders, isTaggedRead } from './conditions';
import { type ErrorExample, errorExample } from './error-examples';
import { errorResponse } from './error-responses';
import { expectedErrors } from './expected-errors';
import { headerText, MAX_HEADERS, shared } from './headers';
import type {
  HeadersObject,
  OperationContext,
  OperationObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from './openapi-types';
import { itemSchema, responseAt, takeExtension } from './references';

const LINKS: Record<Version, Record<string, string>> = {
  1: { first: '?page=0', next: '?page=1', last: '?page=2', self: '' },
  2: { first: '', next: '?cursor=q1x0Z3Jm0uVhC2hXl4mWzVszLDMsZmFsc2Vd', self: '' },
};

/** Five links, each with the parameters of the request, whose size is limited by its headers', and the document. */
const MAX_LINK = 6 * MAX_HEADERS;
const RESOURCE_LINKS: HeadersObject = {
  Link: {
    description:
      'The links of a resource (RFC 8288): self, where it can be read, collection, which it is in, and describedby, the ' +
      'document. One that leads nowhere is left out.',
    schema: headerText(MAX_LINK),
    example: '</api/v1/things/1>; rel="self", </api/v1/things>; rel="collection", </docs/json>; rel="describedby"',
  },
};
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
    // The compiler's plugin adds Nest's default status without a description, even if the route sets another.
    if (response.description === '' && isSuccess(status) && hasOther(responses, status)) delete responses[status];
    else complete(response, status, operation, context);
  }
  const also = takeExtension<ResponseObject['content']>(operation, Extension.ALSO);
  const success = responses['200'] as ResponseObject | undefined;
  if (also && success) success.content = { ...success.content, ...also };
  const raised = takeExtension<ErrorExample[]>(operation, Extension.RAISES) ?? [];
  const errors = [...expectedErrors(operation, context).map(errorExample), ...raised];
  const told = errors.filter((error) => error.status < 500 && (raised.includes(error) || !isOfSchemas(error)));
  for (const status of new Set(errors.map((error) => error.status))) {
    const ofStatus = errors.filter((error) => error.status === status);
    const known = errorResponse(ofStatus, told, context);
    const written = responses[status] as ResponseObject | undefined;
    if (written) join(written, known, context);
    else responses[status] = known;
  }
}

/** True if the schemas tell what is wrong: they say what input is valid. */
const isOfSchemas = ({ code }: ErrorExample): boolean => code === 'VALIDATION_ERROR';

const isSuccess = (status: string): boolean => status.startsWith('2');

/** True if another success is described, so that one without a description can be removed. */
function hasOther(responses: OperationObject['responses'], status: string): boolean {
  const others = Object.entries(responses) as [string, ResponseObject][];
  return others.some(([other, { description }]) => other !== status && isSuccess(other) && description !== '');
}

/** Completes a handwritten response with what the service answers. */
function join(written: ResponseObject, found: ReferenceObject | ResponseObject, context: OperationContext): void {
  const known = responseAt(found, context.components);
  written.content ??= known.content;
  written.headers = { ...known.headers, ...written.headers };
}

function complete(
  response: ResponseObject,
  status: string,
  operation: OperationObject,
  context: OperationContext,
): void {
  response.description ||= STATUS_CODES[status] ?? 'Any other';
  response.headers = { ...headersOf(status, operation, context), ...response.headers };
  const schema = response.content?.['application/json']?.schema as SchemaObject | undefined;
  if (!schema || !context.path.startsWith('/api/')) return;
  // Copied, as the documents of both versions would share the object.
  const json = { ...response.content!['application/json'], schema: answerSchema(schema, status, operation, context) };
  response.content = { ...response.content, 'application/json': json };
}

function headersOf(status: string, operation: OperationObject, context: OperationContext): HeadersObject {
  return {
    ...context.headers,
    ...(status === '201' && { Location: locationHeader(operation, context) }),
    ...(status === '200' && context.pages && { Link: linkHeader(context) }),
    ...(context.item && isSuccess(status) && shared(RESOURCE_LINKS, context.components)),
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
    description: 'The URL of the new resource.',
    required: true,
    schema: headerText(MAX_LOCATION, '^/[\\x21-\\x7e]*$'),
    example,
  };
}

function linkHeader({ path, version }: OperationContext): HeadersObject[string] {
  const links = LINKS[version];
  const example = Object.entries(links).map(([relation, query]) => `<${path}${query}>; rel="${relation}"`);
  const pages = version === 1 ? 'first, prev, next, last' : 'first, prev, next';
  const description = `Where the other pages are (RFC 8288): ${pages}. Also self, and describedby, the document.`;
  return { description, required: true, schema: headerText(MAX_LINK), example: example.join(', ') };
}
