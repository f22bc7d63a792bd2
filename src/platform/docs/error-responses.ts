import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ENTITY_TAG } from './conditions';
import type { ErrorExample } from './error-examples';
import { headerText } from './headers';
import { vendorMediaType } from '../routing/version';
import type {
  ComponentsObject,
  HeadersObject,
  OperationContext,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from './openapi-types';

/** Digits of a digest: enough to distinguish some hundred responses. */
const NAME_DIGITS = 6;

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

/** Documents further headers of errors. Call it where a module is declared. */
export function describeErrorHeaders(headers: Record<string, HeaderDescription>): void {
  Object.assign(HEADERS, headers);
}

/** The response to all errors of one status, each with an example. Routes with the same errors share a component. */
export function errorResponse(
  errors: ErrorExample[],
  { path, version, headers, components }: OperationContext,
): ReferenceObject {
  const schema = { $ref: '#/components/schemas/Error' };
  const inside = path.startsWith('/api/');
  const response: ResponseObject = {
    description: [...new Set(errors.map(({ message }) => message))].join('; or: '),
    headers: errorHeaders(errors, headers),
    content: {
      'application/json': { schema, ...examplesOf(errors) },
      ...(inside && { [vendorMediaType(version)]: { schema } }),
    },
  };
  const name =
    [...new Set(errors.map(({ code }) => code))].join('_OR_') +
    (inside ? `_${digestOf(errors, headers)}` : '_OUTSIDE_THE_API');
  return { $ref: `#/components/responses/${share((components.responses ??= {}), name, response)}` };
}

/** The name follows from the content alone, so other routes never change it. */
function digestOf(errors: ErrorExample[], always: HeadersObject): string {
  const said = errors.map(({ body, headers }) => [body.error, Object.keys(headers)]);
  const text = JSON.stringify([Object.keys(always), said]);
  return createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS);
}

/** The name of an equal response. If another response has the name, a number is appended. */
function share(responses: NonNullable<ComponentsObject['responses']>, name: string, response: ResponseObject): string {
  let unique = name;
  for (let number = 2; !isDeepStrictEqual((responses[unique] ??= response), response); number++) {
    unique = `${name}_${number}`;
  }
  return unique;
}

function errorHeaders(errors: ErrorExample[], always: HeadersObject): HeadersObject {
  const headers = Object.assign({}, ...errors.map((error) => error.headers)) as Record<string, string>;
  const described = { ...always };
  for (const [name, example] of Object.entries(headers)) {
    const required = errors.every((error) => name in error.headers);
    described[name] = { ...HEADERS[name], required, example };
  }
  return described;
}

/** One example, or several named ones. */
function examplesOf(errors: ErrorExample[]) {
  if (errors.length === 1) return { example: errors[0].body };
  const named = errors.map(({ body }, index) => [`example${index + 1}`, { summary: body.error.details, value: body }]);
  return { examples: Object.fromEntries(named) as Record<string, { summary: string; value: object }> };
}
