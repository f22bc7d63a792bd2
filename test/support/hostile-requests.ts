import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { CHUNK_TYPE } from '../../src/uploads/tus/upload-headers';
import { CALLERS, inPlace } from './fuzz-requests';
import { HOSTILE_PIECES } from './hostile-values';
import type { Document, Node, Operation } from './openapi';

/** How a client uses its connection. */
export const MANNERS = ['waits', 'resets', 'holds back', 'pipelines', 'breaks its chunks', 'never reads'] as const;

/** The forms of the request target. For some that aren't URLs the router gives up at once. */
const TARGETS: Record<string, (path: string) => string> = {
  path: (path) => path,
  'whole URL': (path) => `http://localhost${path}`,
  'no host': (path) => `http://${path}`,
  'half an address': (path) => `http://[${path}`,
  'half an address after two slashes': (path) => `//x@[${path}#`,
  'no URL': (path) => `x:${path}`,
  query: (path) => `?${path}`,
};

/** A harmful request, in the form that the report of a failure prints. */
export interface HostileRequest {
  manner: (typeof MANNERS)[number];
  caller: (typeof CALLERS)[number];
  /** E.g. `GET /api/v1/users/{id}`. */
  operation: string;
  /** A name of {@link TARGETS}. */
  target: string;
  /** The place of the hostile value: `path`, `query`, `header` or `body`, and a name. */
  place: string;
  /** A name of {@link HOSTILE_PIECES}. */
  text: string;
  /** The length of the text in UTF-16 units. */
  length: number;
  /** Whether the body is compressed. */
  gzip: boolean;
  /** Milliseconds until the client disconnects. */
  after: number;
  /** The address in the proxy's header, so that no limit per address ends the run. */
  address: string;
  /** The idempotency key of a POST. */
  key?: string;
  /** Whether a collection is requested with its largest page. */
  large: boolean;
}

/** What the requests refer to. */
export interface Target {
  token: string | undefined;
  /** The key of an unfinished upload. */
  upload: string;
}

const KIBIBYTE = 1_024;
/** The head of a request may have 16 KiB. */
const MAX_IN_HEAD = 12 * KIBIBYTE;
const MAX_IN_BODY = 300 * KIBIBYTE;
/** Headers that the service reads on every route. */
const HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Authorization',
  'Content-Type',
  'Content-Encoding',
  'Cookie',
  'Expect',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Origin',
  'Range',
  'Tus-Resumable',
  'Upload-Checksum',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-HTTP-Method-Override',
  'X-Request-Id',
];
const UNKNOWN_PARAMETER = 'colour';

/** Generates harmful requests for the operations of a document. */
export function hostileRequests(document: Document): fc.Arbitrary<HostileRequest> {
  return fc.oneof(...document.operations.map((operation) => ofOperation(document, operation)));
}

function ofOperation(document: Document, { name, spec }: Operation): fc.Arbitrary<HostileRequest> {
  const parameters = [...inPlace(spec, 'path'), ...inPlace(spec, 'query')] as { in: string; name: string }[];
  const places = [
    ...parameters.map((parameter) => `${parameter.in} ${parameter.name}`),
    `query ${UNKNOWN_PARAMETER}`,
    ...attributesOf(document, spec).map((attribute) => `body ${attribute}`),
    'body itself',
  ];
  const place = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...places) },
    { weight: 1, arbitrary: fc.constantFrom(...HEADERS).map((header) => `header ${header}`) },
  );
  return place.chain((where) =>
    fc.record({
      manner: fc.oneof({ weight: 5, arbitrary: fc.constant(MANNERS[0]) }, fc.constantFrom(...MANNERS)),
      caller: fc.constantFrom(...CALLERS),
      operation: fc.constant(name),
      target: fc.oneof({ weight: 12, arbitrary: fc.constant('path') }, fc.constantFrom(...Object.keys(TARGETS))),
      place: fc.constant(where),
      text: fc.constantFrom(...Object.keys(HOSTILE_PIECES)),
      length: where.startsWith('body') ? lengths(MAX_IN_BODY) : lengths(MAX_IN_HEAD),
      gzip: fc.boolean(),
      after: fc.integer({ min: 0, max: 20 }),
      key: fc.option(fc.uuid(), { nil: undefined }),
      large: fc.boolean(),
      address: fc.tuple(...Array.from({ length: 3 }, () => fc.nat(255))).map((parts) => `10.${parts.join('.')}`),
    }),
  );
}

/** Mostly common lengths, and some extreme ones. */
const lengths = (max: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 300 }) },
    { weight: 3, arbitrary: fc.integer({ min: 300, max: MAX_IN_HEAD }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max }) },
  );

function attributesOf({ json }: Document, spec: Node): string[] {
  const schema = spec.requestBody?.content['application/json']?.schema;
  if (!schema) return [];
  const { properties } = json.components.schemas[schema.$ref.split('/').at(-1)];
  return Object.keys(properties as object);
}

/** The bytes of the complete request. */
export function bytesOf(request: HostileRequest, { token, upload }: Target): Buffer {
  const { operation, place, gzip, address, key, large } = request;
  const [method, pattern] = operation.split(' ');
  const value = repeated(request);
  const named = (kind: string) => (place.startsWith(`${kind} `) ? place.slice(kind.length + 1) : undefined);
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    named('path') === name ? inUrl(value) : name === 'key' ? upload : '1',
  );
  const pairs = [
    ...(named('query') ? [`${named('query')}=${inUrl(value)}`] : []),
    ...(large && method === 'GET' && named('query') !== 'size' ? ['size=100'] : []),
  ];
  const json = named('body') === undefined ? undefined : bodyOf(named('body')!, value);
  const body = json && gzip ? gzipSync(json) : json;
  const headers: Record<string, string> = {
    Host: 'localhost',
    'X-Forwarded-For': address,
    ...(token && { Authorization: `Bearer ${token}` }),
    ...(body && {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      ...(gzip && { 'Content-Encoding': 'gzip' }),
    }),
    ...(method === 'POST' && key && { 'Idempotency-Key': key }),
    ...(pattern.includes('/uploads') && { 'Tus-Resumable': '1.0.0', 'Upload-Length': '10', 'Upload-Offset': '0' }),
    ...(method === 'PATCH' && !body && { 'Content-Type': CHUNK_TYPE, 'Content-Length': '10' }),
    ...(named('header') && { [named('header')!]: inHeader(value) }),
  };
  const lines = Object.entries(headers).map(([name, line]) => `${name}: ${line}`);
  const target = TARGETS[request.target](pairs.length > 0 ? `${path}?${pairs.join('&')}` : path);
  const head = [`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  return Buffer.concat([
    Buffer.from(head, 'latin1'),
    body ?? Buffer.from(headers['Content-Length'] ? 'bytes ever' : ''),
  ]);
}

function repeated({ text, length }: HostileRequest): string {
  const unit = HOSTILE_PIECES[text];
  return unit.repeat(Math.ceil(length / unit.length));
}

function bodyOf(attribute: string, value: string): Buffer {
  // JSON.stringify() escapes a lone surrogate, like a client would.
  return Buffer.from(attribute === 'itself' ? value : JSON.stringify({ [attribute]: value, [value.slice(0, 999)]: 1 }));
}

function inUrl(value: string): string {
  // Lone surrogates can't be encoded in a URL.
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, ''))
    .slice(0, MAX_IN_HEAD)
    .replace(/%\w?$/, '');
}

/** A header value without line breaks. */
function inHeader(value: string): string {
  return Buffer.from(value)
    .toString('latin1')
    .replace(/[\r\n\0]/g, ' ')
    .slice(0, MAX_IN_HEAD)
    .trim();
}
