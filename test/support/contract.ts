import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import type { Answer, SentRequest } from '../../src/platform/testing';
import { PROBLEM_TYPE } from '../../src/platform/http/accepted';
import { fromXml } from './xml';
import { closed, Document, type Node, type Operation, requiredHeaders } from './openapi';
import { PLACES } from './tested-places';

/** Statuses that any request may get before an operation is found. */
const OF_NO_OPERATION: Record<number, string> = {
  405: 'the method has no operation',
  408: "Node's server: the request didn't arrive in time",
  417: 'an expectation that is none of HTTP',
  431: "Node's server: the headers are too large",
};
/** In production plain HTTP is refused before any path is known. The document's introduction says so. */
const FOR_HTTPS_ONLY = 'This service is for HTTPS only';
/** Whole lists, which the descriptions of their operations tell of. */
const OF_WHOLE_LISTS = ['text/csv', 'application/x-ndjson'];
/** Headers about the API, which must be documented. */
const TELLING =
  /^(accept$|accept-patch|etag|link|location|retry-after|allow|www-authenticate|ratelimit|deprecation|sunset|idempotent|x-)(?!content-type|dns|download|frame|permitted|xss)/;
const documents = new Map<string, Document>();

/**
 * Compares an answer with the checked-in document of its version: status, media type, body and headers. An answer
 * outside of all operations passes.
 * @throws Error with every difference
 */
export function requireAsDocumented(request: SentRequest, answer: Answer): void {
  const version = versionOf(request, answer);
  const document = documentOf(version);
  const operation = operationAt(document, request, version);
  if (!operation || isOfNoOperation(answer) || isOfMany(request, answer) || isWholeList(operation, answer)) return;
  const problems = differences(document, operation, request, answer);
  if (problems.length === 0) return;
  const { method, url } = request;
  throw new Error(
    `${method} ${url.pathname}${url.search} answered ${answer.status}, not as ${PLACES.documents}/openapi/v${version} has ${operation.spec.operationId}:\n- ${problems.join('\n- ')}\n${answer.text.slice(0, 2_000)}`,
  );
}

function isOfNoOperation({ status, body }: Answer): boolean {
  return status in OF_NO_OPERATION || (status === 403 && body.error?.message === FOR_HTTPS_ONLY);
}

/** The answer to a list of inputs, which the document tells in words (D-225). */
function isOfMany({ method }: SentRequest, { status, body }: Answer): boolean {
  return method === 'POST' && (status === 207 || (status === 201 && Array.isArray(body.data)));
}

function isWholeList({ spec }: Operation, { status, headers }: Answer): boolean {
  const [mediaType] = (headers.get('content-type') ?? '').split(';');
  return status === 200 && OF_WHOLE_LISTS.includes(mediaType) && String(spec.description).includes(mediaType);
}

/** The version in the path; otherwise that of the answer's media type, or of the requested one. */
function versionOf({ url, headers: sent }: SentRequest, { headers }: Answer): string {
  const inPath = /^\/api\/v(\d+)(\/|$)/i.exec(url.pathname);
  const mediaType = headers.get('content-type') ?? new Headers(sent).get('accept') ?? '';
  return inPath?.[1] ?? /version="?(\d+)/i.exec(mediaType)?.[1] ?? '1';
}

/** The checked-in document of a version. */
export function documentOf(version: string): Document {
  // An unknown version has no operations.
  const name = version === '2' ? '2' : '1';
  const known =
    documents.get(name) ??
    // The documents are checked by openapi.spec.ts.
    new Document(closed(JSON.parse(readFileSync(`${PLACES.documents}/openapi.v${name}.json`, 'utf8'))), {
      checked: true,
    });
  documents.set(name, known);
  return known;
}

function operationAt(document: Document, sent: SentRequest, version: string): Operation | undefined {
  const { url } = sent;
  const method = methodOf(sent);
  const path = url.pathname.replace(/^\/api(?!\/v\d)/i, `/api/v${version}`).replace(/\/$/, '');
  const here = document.operations.filter(({ pattern }) => pattern.test(path));
  const own = here.filter((one) => one.method === method.toLowerCase());
  // HEAD is a GET without a body, unless it is documented itself.
  const matching = own.length === 0 && method === 'HEAD' ? here.filter((one) => one.method === 'get') : own;
  // A literal path such as `users/profile` takes precedence over `users/{id}`.
  return matching.sort((one, other) => one.path.split('{').length - other.path.split('{').length)[0];
}

/** The method that a header makes of a POST. */
function methodOf({ method, headers }: SentRequest): string {
  return (method === 'POST' && new Headers(headers).get('x-http-method-override')) || method;
}

function differences(document: Document, operation: Operation, request: SentRequest, answer: Answer): string[] {
  const response = document.response(operation, answer.status);
  if (!response)
    return ['the status is not documented: the decorators of the handler say it, and npm run openapi writes it'];
  return [
    ...(request.method === 'HEAD' ? [] : contentDifferences(document, response, request, answer)),
    ...headerDifferences(document, response, answer),
  ];
}

function contentDifferences(
  document: Document,
  { content }: Node,
  { url }: SentRequest,
  { status, headers, body: made, text }: Answer,
): string[] {
  if (!content) return text === '' ? [] : ['there is a body, and none is documented'];
  const sent = documentedAs(mediaTypeOf(headers.get('content-type') ?? ''), document);
  if (sent === PROBLEM_TYPE) return [];
  const isXml = sent.endsWith('/xml') && !content[sent];
  const received = isXml ? 'application/json' : sent;
  const body = isXml ? fromXml(text) : made;
  // The bytes of an upload may have any type.
  if (content['*/*']) return [];
  const documented = Object.keys(content).find((mediaType) => mediaTypeOf(mediaType) === received);
  if (!documented) return [`the media type is ${received} instead of ${Object.keys(content).join(' or ')}`];
  const { schema } = content[documented];
  const [fields, included] = ['fields', 'include'].map((name) => namesIn(url.searchParams.getAll(name)));
  return [
    ...document.violations(body.data ? document.asAsked(schema, fields, included) : schema, body),
    ...envelopeDifferences(body, status),
  ];
}

const namesIn = (lists: string[]): string[] =>
  lists
    .join()
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/** All successes have one schema, so it doesn't tell the status of this one. */
function envelopeDifferences(body: Node, status: number): string[] {
  if (!['code', 'message', 'data', 'timestamp'].every((name) => name in Object(body))) return [];
  const isSaid = body.code === status && body.message === STATUS_CODES[status];
  return isSaid ? [] : [`/code and /message say ${body.code} ${body.message} instead of ${status}`];
}

function headerDifferences(document: Document, response: Node, { headers }: Answer): string[] {
  const documented = document.headersOf(response);
  const missing = requiredHeaders(response).filter((name) => !headers.has(name));
  const surprising = [...headers.keys()].filter((name) => TELLING.test(name) && !documented.has(name));
  const wrong = [...documented].flatMap(([name, { schema }]) => {
    const value = headers.get(name);
    const typed = schema.type === 'integer' ? Number(value) : value;
    return value === null ? [] : document.violations(schema, typed).map((problem) => `header ${name}${problem}`);
  });
  return [
    ...missing.map((name) => `header ${name} is missing`),
    ...surprising.map((name) => `header ${name} is not documented`),
    ...wrong,
  ];
}

/** The media type of the version is JSON, which alone the document lists: its introduction says so. */
function documentedAs(mediaType: string, { json }: Document): string {
  const [version] = (json.info.version as string).split('.');
  return mediaType === `application/vnd.api+json; version=${version}` ? 'application/json' : mediaType;
}

/** The media type without its charset and without blanks. */
function mediaTypeOf(text: string): string {
  const [type, ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  return [type, ...parameters.filter((parameter) => !parameter.startsWith('charset='))].join('; ');
}
