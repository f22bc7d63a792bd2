import type { ComponentsObject, HeadersObject, SchemaObject } from './openapi-types';

/** The greatest size of all headers of a message: the limit of Node's server. */
export const MAX_HEADERS = 16_384;
const PRINTABLE = '^[\\x20-\\x7e]*$';

/** The schema of a header's value. @param pattern Default: printable ASCII */
export function headerText(maxLength: number, pattern = PRINTABLE): SchemaObject {
  return { type: 'string', maxLength, pattern };
}

/** Headers that any response may have. They are shared components. */
export const COMMON_HEADERS: HeadersObject = {
  'X-Request-Id': {
    description: 'Identifies this request in the log.',
    required: true,
    schema: headerText(128, '^[A-Za-z0-9._-]{1,128}$'),
    example: 'a1b2c3',
  },
  'Access-Control-Allow-Origin': {
    description: 'The origin of the request, if scripts of that origin may read the answer in a browser.',
    schema: headerText(MAX_HEADERS),
    example: 'https://app.example.com',
  },
};

const OF_ALL = ['X-Request-Id'];
const OF_THE_API = [...OF_ALL, 'Access-Control-Allow-Origin'];

/** Adds headers to the shared components, and returns references to them. */
export function shared(headers: HeadersObject, components: ComponentsObject): HeadersObject {
  components.headers = { ...components.headers, ...headers };
  return referencesTo(Object.keys(headers));
}

/** References to the headers that a response at this path may have. */
export function commonHeaders(path: string): HeadersObject {
  const names = path.startsWith('/api/') ? OF_THE_API : OF_ALL;
  return referencesTo(names);
}

const referencesTo = (names: string[]): HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
