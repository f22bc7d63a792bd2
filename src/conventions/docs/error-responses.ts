import { isDeepStrictEqual } from 'node:util';
import type { ErrorExample } from './error-examples';
import type { ComponentsObject, HeadersObject, ReferenceObject, ResponseObject } from './openapi-types';

const HEADERS: Record<string, string> = {
  'Retry-After': 'Seconds to wait before another attempt.',
  'WWW-Authenticate': 'How to authenticate, and what was wrong with the attempt.',
};

/** The response to all errors of one status, each with an example; it stands once among the components. */
export function errorResponse(errors: ErrorExample[], components: ComponentsObject): ReferenceObject {
  const response: ResponseObject = {
    description: [...new Set(errors.map(({ message }) => message))].join('; or: '),
    headers: errorHeaders(errors),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, ...examplesOf(errors) } },
  };
  const name = [...new Set(errors.map(({ code }) => code))].join('_OR_');
  return { $ref: `#/components/responses/${share((components.responses ??= {}), name, response)}` };
}

/** The name of this very response: the one asked for, or with a number when another response has it. */
function share(responses: NonNullable<ComponentsObject['responses']>, name: string, response: ResponseObject): string {
  let unique = name;
  for (let number = 2; !isDeepStrictEqual((responses[unique] ??= response), response); number++) {
    unique = `${name}_${number}`;
  }
  return unique;
}

function errorHeaders(errors: ErrorExample[]): HeadersObject {
  const headers = Object.assign({}, ...errors.map((error) => error.headers)) as Record<string, string>;
  const described: HeadersObject = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
  for (const [name, example] of Object.entries(headers)) {
    described[name] = { description: HEADERS[name], schema: { type: 'string' }, example };
  }
  return described;
}

/** One example, or a choice of them named by what each says. */
function examplesOf(errors: ErrorExample[]) {
  if (errors.length === 1) return { example: errors[0].body };
  const named = errors.map(({ body }, index) => [`example${index + 1}`, { summary: body.error.details, value: body }]);
  return { examples: Object.fromEntries(named) as Record<string, { summary: string; value: object }> };
}
