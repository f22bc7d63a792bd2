import { kindOf } from '../errors/error-codes';
import { ENTITY_TAG } from './conditions';
import type { ErrorExample } from './error-examples';
import { type DocumentedCode, narrowErrorSchema } from './error-schemas';
import { commonHeaders, headerText } from './headers';
import type {
  ComponentsObject,
  HeadersObject,
  OperationContext,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from './openapi-types';

interface HeaderDescription {
  description: string;
  schema: SchemaObject;
}

const HEADERS: Record<string, HeaderDescription> = {
  Accept: {
    description: 'The media types that the body of this route may have.',
    schema: headerText(128, '^[a-z/+, -]+$'),
  },
  'Accept-Patch': {
    description: 'The media types that a patch may have (RFC 5789).',
    schema: headerText(128, '^[a-z/+, -]+$'),
  },
  ETag: { description: 'The entity tag of the current version.', schema: ENTITY_TAG },
  'Retry-After': { description: 'Seconds to wait before another attempt.', schema: headerText(10, '^[0-9]+$') },
  'WWW-Authenticate': {
    description: 'The way to authenticate, and the error of the attempt.',
    schema: headerText(128, '^Bearer[\\x20-\\x7e]*$'),
  },
};

/** Headers that errors of a code may have beside those that the code itself has. True if all have it. */
const HEADERS_OF_CODES: Record<string, Record<string, boolean>> = {
  CONFLICT: { 'Retry-After': false },
  PRECONDITION_FAILED: { ETag: true },
  TOO_MANY_REQUESTS: { 'Retry-After': true },
  UNSUPPORTED_MEDIA_TYPE: { Accept: false, 'Accept-Patch': false },
};
const EXAMPLES: Record<string, string> = {
  Accept: 'application/json',
  'Accept-Patch': 'application/json, application/merge-patch+json',
  ETag: '"2"',
  'Retry-After': '1',
  'WWW-Authenticate': 'Bearer',
};
/** Between the texts of a response. */
const OR = '; or: ';

/** Documents further headers of errors. Call it where a module is declared. */
export function describeErrorHeaders(headers: Record<string, HeaderDescription>): void {
  Object.assign(HEADERS, headers);
}

/**
 * The response to all errors of one status. Errors of the same codes share a component, whose name and content follow
 * from the codes alone. An operation that says more of it has a description of its own; one whose answers have other
 * headers has a response of its own.
 * @param told the errors whose details the description tells, instead of their messages
 */
export function errorResponse(
  errors: ErrorExample[],
  told: ErrorExample[],
  { headers: always, components }: OperationContext,
): ReferenceObject | ResponseObject {
  const codes = codesOf(errors);
  const general = generalResponse(codes, components);
  const texts = errors.map((error) => (told.includes(error) ? error.body.error.details : error.message));
  const description = [...new Set(texts)].join(OR);
  const headers = headersOf(errors, always);
  if (!covers(general.headers!, headers)) return { ...general, description, headers };
  const name = nameOf(codes);
  (components.responses ??= {})[name] = general;
  // OpenAPI 3.1 allows a description beside a reference, which takes precedence.
  const own = description === general.description ? {} : { description };
  return { $ref: `#/components/responses/${name}`, ...own };
}

/** The codes of errors in alphabetical order, each once. */
function codesOf(errors: ErrorExample[]): DocumentedCode[] {
  const codes = new Map<string, DocumentedCode>();
  for (const { code, status, message } of errors) {
    const kind = kindOf(code);
    // A code that isn't declared anywhere has no message of its own.
    codes.set(code, { code, status, message: kind.status === status ? kind.message : message });
  }
  return [...codes.values()].sort((one, other) => (one.code < other.code ? -1 : 1));
}

/** `NOT_FOUND` and `USER_NOT_FOUND` become `NotFoundOrUserNotFound`. */
const nameOf = (codes: DocumentedCode[]): string => codes.map(({ code }) => inPascalCase(code)).join('Or');

const inPascalCase = (code: string): string =>
  code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

function generalResponse(codes: DocumentedCode[], components: ComponentsObject): ResponseObject {
  const name = `${nameOf(codes).replace(/Error$/, '')}Error`;
  (components.schemas ??= {})[name] ??= narrowErrorSchema(codes);
  return {
    description: codes.map(({ message }) => message).join(OR),
    headers: { ...commonHeaders('/api/'), ...generalHeaders(codes) },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  };
}

function generalHeaders(codes: DocumentedCode[]): HeadersObject {
  const ofEach = codes.map(({ code }) => ({
    ...Object.fromEntries(Object.keys(kindOf(code).headers ?? {}).map((name) => [name, true])),
    ...HEADERS_OF_CODES[code],
  }));
  const names = new Set(ofEach.flatMap((one) => Object.keys(one)));
  const described = [...names].map((name) => {
    const required = ofEach.every((one) => one[name]);
    return [name, { ...HEADERS[name], required, example: EXAMPLES[name] }] as const;
  });
  return Object.fromEntries(described);
}

function headersOf(errors: ErrorExample[], always: HeadersObject): HeadersObject {
  const headers = Object.assign({}, ...errors.map((error) => error.headers)) as Record<string, string>;
  const described = Object.entries(headers).map(([name, example]) => {
    const required = errors.every((error) => name in error.headers);
    return [name, { ...HEADERS[name], required, example }] as const;
  });
  return { ...always, ...Object.fromEntries(described) };
}

/** True if answers with these headers are as the general response says: it names all of them, and requires no others. */
function covers(general: HeadersObject, own: HeadersObject): boolean {
  const isRequired = (header: HeadersObject[string]) => '$ref' in header || header.required === true;
  return (
    Object.keys(own).every((name) => name in general) &&
    Object.entries(general).every(([name, header]) => !isRequired(header) || (name in own && isRequired(own[name])))
  );
}
