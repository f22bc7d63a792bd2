import { Agent, request as httpRequest } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LONGEST_SPELLING } from '../../src/platform/text/composed-text';
import { Fixtures } from '../support/fixtures';
import { BuiltService } from '../support/built-service';
import { documentOf } from '../support/contract';
import {
  filled,
  HOSTILE_BODIES,
  HOSTILE_HEADERS,
  HOSTILE_PIECES,
  hostileHeader,
  hostileString,
  hostileStringOf,
  hostileUrlPart,
} from '../support/hostile-values';
import type { Node, Operation } from '../support/openapi';
import { requestOf } from '../support/requests';
import { useTestApi } from '../support/test-api';
import {
  inLowerCase,
  Input,
  NoAnswer,
  Received,
  Request,
  batches,
  lengthOf,
  metadataOf,
  namesIn,
  problemOf,
  raise,
  withBody,
} from '../support/worst-requests';

/** Milliseconds for which one request may keep all others waiting. */
const MAX_BLOCK = 250;
/** Bytes of a body: the general limit, and those that a route may have of its own. */
const BODY_SIZES = [2 ** 20, 2 ** 18, 2 ** 16, 2 ** 14, 2 ** 12];
/** Bytes of one part of a URL or of one header: Node takes 16 KiB of them all, and there is a token among them. */
const HEAD_SIZE = 13_000;
/** Headers of any request, besides those that an operation documents. */
const GENERAL_HEADERS = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-type', 'content-encoding', 'cookie'],
  ...['expect', 'forwarded', 'host', 'idempotency-key', 'if-match', 'if-none-match', 'if-range', 'origin', 'range'],
  ...['access-control-request-headers', 'x-forwarded-for', 'x-forwarded-proto', 'x-http-method-override'],
  ...['x-request-id'],
];
/** Milliseconds: what is not answered by then is as good as blocked for ever. */
const PATIENCE = 15_000;
const TEXTS = Object.entries(HOSTILE_PIECES);

/** What a body is called, and how it is made. */
type Make = [name: string, make: () => string];

interface Attribute {
  name: string;
  /** Makes a body of a value for it, in JSON. */
  put: (json: string) => string;
  maxLength?: number;
}

const compress = promisify(gzip);

describe('No input keeps other clients waiting', () => {
  const api = useTestApi();
  const document = documentOf('1');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const compressed = new Map<string, Promise<Buffer>>();
  /** Operations that take and answer the like do the same with headers that none of them documents. */
  const shapes = new Set<string>();
  let service: BuiltService;

  beforeAll(async () => {
    const settings = { DATABASE_URL: api.app.databaseUrl, MIN_FREE_DISK: '0', PUBLIC_RATE_LIMIT: '1000000' };
    // Otherwise a user's requests would be 429 before they reach what they attack.
    const behindProxy = { TRUST_PROXY: '1', CORS_ORIGINS: 'http://a.b:1', WRITE_QUOTA: '0' };
    service = await BuiltService.start({ ...settings, ...behindProxy }, { watched: true });
  });

  afterAll(async () => {
    agent.destroy();
    await service?.stop();
  });

  it.each(document.operations.map((one) => [one.name, one] as const))('of %s', async (_name, operation) => {
    const inputs = await inputsOf(operation);
    let good = await goodRequest(operation);
    const suspects: Input[] = [];
    await service.longestBlock();
    for (const batch of batches(inputs)) {
      for (const { name, put } of batch) {
        let answer = await send(await put(good)).catch((error) => raise(name, error));
        // Its row, or its caller, is gone by another input that was fine.
        if ([401, 404].includes(answer.status) && !/^(path|header authorization)/.test(name)) {
          good = await goodRequest(operation);
          answer = await send(await put(good));
        }
        expect([name, problemOf(name, answer)]).toEqual([name, undefined]);
      }
      if ((await service.longestBlock()) > MAX_BLOCK) suspects.push(...batch);
    }
    expect(await convicted(suspects, operation)).toEqual([]);
  });

  /** Those that do it again on their own: the compiler and the garbage collector may have taken their time. */
  async function convicted(suspects: Input[], operation: Operation): Promise<string[]> {
    const names: string[] = [];
    for (const { name, put } of suspects) {
      const request = await put(await goodRequest(operation));
      await service.longestBlock();
      await send(request);
      const block = await service.longestBlock();
      if (block > MAX_BLOCK) names.push(`${name}: ${Math.round(block)} ms`);
    }
    return names;
  }

  /** One that succeeds, on things of its own. */
  async function goodRequest({ name, path, method }: Operation): Promise<Request> {
    const own = new Fixtures(api, await api.admin());
    const { ids = [], headers, body } = await requestOf(name.replaceAll(/\{(\w+)\}/g, ':$1'), own);
    const places = [...ids];
    const isJson = body && !Buffer.isBuffer(body);
    return {
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, () => String(places.shift())),
      headers: {
        authorization: `Bearer ${own.owner.token}`,
        ...(isJson && { 'content-type': 'application/json' }),
        ...inLowerCase(headers),
      },
      body: isJson ? Buffer.from(JSON.stringify(body)) : body,
    };
  }

  async function inputsOf(operation: Operation): Promise<Input[]> {
    const { method, spec } = operation;
    const shape = JSON.stringify([
      namesIn(spec, 'query').includes('size'),
      Object.keys(spec.responses['200']?.content ?? {}),
    ]);
    // Where something is written, each of these would write it.
    const general = method === 'get' && !shapes.has(shape) ? GENERAL_HEADERS : [];
    shapes.add(shape);
    return [
      ...ofPath(operation),
      ...ofQuery(operation),
      ...ofHeaders([...namesIn(spec, 'header'), ...general]),
      ...(await ofBody(operation)),
    ];
  }

  function ofPath({ path: pattern, spec }: Operation): Input[] {
    return namesIn(spec, 'path').flatMap((parameter) =>
      TEXTS.map(([kind, piece]) => {
        const path = pattern.replace(`{${parameter}}`, hostileUrlPart(piece, HEAD_SIZE)).replaceAll(/\{\w+\}/g, '1');
        return { name: `path ${parameter}: ${kind}`, put: (good) => ({ ...good, path }) };
      }),
    );
  }

  function ofQuery({ spec }: Operation): Input[] {
    const values = namesIn(spec, 'query').flatMap((parameter) =>
      TEXTS.map(([kind, piece]) => [`${parameter}: ${kind}`, `${parameter}=${hostileUrlPart(piece, HEAD_SIZE)}`]),
    );
    const wholes = ['%', '&', '=', '+', '&a=', 'a=1&', '%ff&', '<', '%CC%96%CC%81'];
    return [...values, ...wholes.map((piece) => [piece, filled(piece, HEAD_SIZE)])].map(([name, query]) => ({
      name: `query ${name}`,
      put: (good) => ({ ...good, path: `${good.path}?${query}` }),
    }));
  }

  function ofHeaders(names: string[]): Input[] {
    return [...new Set(names)].flatMap((header) => {
      const values = Object.entries(HOSTILE_HEADERS).map(([kind, value]) => [kind, hostileHeader(value, HEAD_SIZE)]);
      if (header === 'upload-metadata') values.push(...TEXTS.map(metadataOf));
      return values.map(([kind, value]): Input => ({
        name: `header ${header}: ${kind}`,
        put: (good) => ({ ...good, headers: { ...good.headers, [header]: value } }),
      }));
    });
  }

  /**
   * As long as may be, and then compressed; and as long as the service still looks at. Of each attribute there is one that
   * is sent as it is, too, which takes its time to arrive.
   */
  async function ofBody(operation: Operation): Promise<Input[]> {
    const schema = operation.spec.requestBody?.content['application/json']?.schema;
    if (!schema) return [];
    const size = await longestBody(operation);
    const longest = attributesOf(schema).flatMap(({ name, put }) =>
      TEXTS.map(([kind, piece]): Make => [`${name}: ${kind}`, () => put(hostileString(piece, size))]),
    );
    const readable = attributesOf(schema).flatMap(({ name, put, maxLength = 0 }) =>
      TEXTS.map(([kind, piece]): Make => {
        const json = () => hostileStringOf(piece, maxLength * LONGEST_SPELLING);
        return [`${name}, read: ${kind}`, () => put(json().length < size ? json() : hostileString(piece, size))];
      }),
    );
    const wholes = Object.entries(HOSTILE_BODIES).map(([kind, make]): Make => [kind, () => make(size)]);
    return [...longest, ...readable, ...wholes].flatMap(([kind, make]) => {
      const name = `body ${kind}`;
      const zipped = { name, put: (good: Request) => withBody(good, compressedOnce(`${kind} ${size}`, make), 'gzip') };
      const plain = { name: `${name}, as it is`, put: (good: Request) => withBody(good, Buffer.from(make())) };
      return kind.endsWith(TEXTS[0][0]) ? [zipped, plain] : [zipped];
    });
  }

  /** Made when it is sent: all at once take gigabytes. The attributes of many operations have the same names. */
  function compressedOnce(key: string, make: () => string): Promise<Buffer> {
    let known = compressed.get(key);
    if (!known) compressed.set(key, (known = compress(make())));
    return known;
  }

  /** The general limit, unless the operation has one of its own. */
  async function longestBody(operation: Operation): Promise<number> {
    const good = await goodRequest(operation);
    for (const size of BODY_SIZES) {
      const { status } = await send(await withBody(good, Buffer.from(`{"a":${hostileString('a', size)}}`)));
      if (status !== 413) return size;
    }
    throw new Error(`${operation.name} takes no body of ${BODY_SIZES.at(-1)} bytes`);
  }

  /** At any depth. */
  function attributesOf(schema: Node, put = (json: string) => json, prefix = ''): Attribute[] {
    const node = schema.$ref ? document.json.components.schemas[schema.$ref.split('/').at(-1)] : schema;
    if (node.items) return attributesOf(node.items, (json) => put(`[${json}]`), `${prefix}0.`);
    return Object.entries<Node>(node.properties ?? {}).flatMap(([name, attribute]) => {
      const inside = (json: string) => put(`{"${name}":${json}}`);
      const own = { name: prefix + name, put: inside, maxLength: attribute.maxLength as number | undefined };
      return [own, ...attributesOf(attribute, inside, `${prefix}${name}.`)];
    });
  }

  async function send({ path, body, ...options }: Request, attempt = 1): Promise<Received> {
    const headers = { ...options.headers, ...(body && { 'content-length': body.length }) };
    try {
      return await new Promise<Received>((resolve, reject) => {
        const request = httpRequest(service.url + path, { ...options, headers, agent });
        request.setTimeout(PATIENCE, () => request.destroy(new NoAnswer()));
        request.on('response', (response) => void lengthOf(response).then(resolve, reject)).on('error', reject);
        request.end(body);
      });
    } catch (error) {
      // The service closes a connection whose request it doesn't read to its end.
      if (attempt === 3 || error instanceof NoAnswer) throw error;
      return send({ path, body, ...options }, attempt + 1);
    }
  }
});
