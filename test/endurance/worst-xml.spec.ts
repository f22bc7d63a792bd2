import { Agent, request as httpRequest } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BuiltService } from '../support/built-service';
import { documentedRoutes, requestOf } from '../support/requests';
import { useTestApi } from '../support/test-api';
import { Fixtures } from '../support/fixtures';
import { HOSTILE_XML } from '../support/hostile-xml';
import { lengthOf } from '../support/worst-requests';

jest.setTimeout(120_000);

/** Milliseconds for which one request may keep all others waiting. */
const MAX_BLOCK = 250;
/** Bytes of a body, the general limit. A route may have a lower one, and answers 413 then. */
const SIZE = 2 ** 20;
const TOO_LARGE = 413;
const UNSUPPORTED = 415;
const SERVER_ERROR = 500;

const WRITES = documentedRoutes(({ spec }) => spec.requestBody?.content['application/json']).filter((route) =>
  /^(POST|PUT|PATCH) /.test(route),
);
const compress = promisify(gzip);

describe('No body in XML keeps other clients waiting', () => {
  const api = useTestApi();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let service: BuiltService;

  beforeAll(async () => {
    const settings = { DATABASE_URL: api.app.databaseUrl, MIN_FREE_DISK: '0', WRITE_QUOTA: '0', TRUST_PROXY: '1' };
    service = await BuiltService.start(settings, { watched: true });
  });

  afterAll(async () => {
    agent.destroy();
    await service?.stop();
  });

  it.each(WRITES)('of %s', async (route) => {
    const admin = await api.admin();
    const own = new Fixtures(api, admin);
    const slow: string[] = [];
    for (const [name, make] of Object.entries(HOSTILE_XML)) {
      const body = Buffer.from(make(SIZE));
      for (const [form, bytes] of Object.entries({ plain: body, zipped: await compress(body) })) {
        const { ids = [] } = await requestOf(route, own);
        const block = await longestOf(() => send(route, ids, admin.token, bytes, form === 'zipped'), name);
        if (block > MAX_BLOCK) slow.push(`${name}, ${form}: ${Math.round(block)} ms`);
      }
    }
    expect(slow).toEqual([]);
  });

  /** Once more where it was long: the compiler and the garbage collector may have taken their time. */
  async function longestOf(ask: () => Promise<number>, name: string): Promise<number> {
    let block = Infinity;
    for (let attempt = 0; attempt < 2 && block > MAX_BLOCK; attempt++) {
      await service.longestBlock();
      const status = await ask();
      // It has to get as far as the parser, or this would say nothing.
      if (status >= SERVER_ERROR || status === UNSUPPORTED) throw new Error(`${name} is ${status}`);
      block = await service.longestBlock();
    }
    return block;
  }

  function send(route: string, ids: unknown[], token: string, body: Buffer, zipped: boolean): Promise<number> {
    const [method, pattern] = route.split(' ');
    const places = [...ids];
    const path = pattern.replace(/:\w+/g, () => String(places.shift()));
    const headers = {
      Authorization: `Bearer ${token}`,
      Accept: 'application/xml',
      'Content-Type': 'application/xml',
      'Content-Length': body.length,
      ...(zipped && { 'Content-Encoding': 'gzip' }),
    };
    return new Promise((resolve, reject) => {
      const request = httpRequest(service.url + path, { method, headers, agent });
      request.on('response', (response) => void lengthOf(response).then(({ status }) => resolve(status), reject));
      // The service may close the connection of a body that it doesn't read to its end.
      request.on('error', () => resolve(TOO_LARGE)).end(body);
    });
  }
});
