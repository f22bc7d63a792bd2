import type { ComponentsObject, HeadersObject, SchemaObject } from './openapi-types';

/** Of all headers of a message together: what Node's server takes. */
export const MAX_HEADERS = 16_384;
const PRINTABLE = '^[\\x20-\\x7e]*$';

/** The schema of a header's value. @param pattern printable ASCII when left out */
export function headerText(maxLength: number, pattern = PRINTABLE): SchemaObject {
  return { type: 'string', maxLength, pattern };
}

/** Those that any response can have; they stand once among the components. */
export const COMMON_HEADERS: HeadersObject = {
  'X-Request-Id': {
    description: 'Identifies this request in the log.',
    required: true,
    schema: headerText(128, '^[A-Za-z0-9._-]{1,128}$'),
    example: 'a1b2c3',
  },
  'Access-Control-Allow-Origin': {
    description: 'The origin that asked, when it is one of those that may read answers in a browser.',
    schema: headerText(MAX_HEADERS),
    example: 'https://app.example.com',
  },
};

const OF_ALL = ['X-Request-Id'];
const OF_THE_API = [...OF_ALL, 'Access-Control-Allow-Origin'];

/** References to these, which from now on stand among the components as well. */
export function shared(headers: HeadersObject, components: ComponentsObject): HeadersObject {
  components.headers = { ...components.headers, ...headers };
  return referencesTo(Object.keys(headers));
}

/** References to those that a response at this path can have. */
export function commonHeaders(path: string): HeadersObject {
  const names = path.startsWith('/api/') ? OF_THE_API : OF_ALL;
  return referencesTo(names);
}

const referencesTo = (names: string[]): HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
