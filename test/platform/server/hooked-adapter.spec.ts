import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express, RequestHandler } from 'express';
import { stackOf } from '../../../src/platform/routing/route-index';
import { HookedAdapter } from '../../../src/platform/server/hooked-adapter';

const answer: RequestHandler = (_request, response) => void response.json(response.locals.seen ?? []);

/** What the middlewares of an adapter have seen of one request. */
async function ask(adapter: HookedAdapter): Promise<{ status: number; body: unknown }> {
  const server = createServer(adapter.getInstance<Express>()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  } finally {
    server.close();
  }
}

describe('The hooks of the adapter', () => {
  it('take no step of the router while there is none', async () => {
    const adapter = new HookedAdapter();
    adapter.use(answer);

    expect(stackOf(adapter.getInstance<Express>())).toHaveLength(1);
    expect(await ask(adapter)).toEqual({ status: 200, body: [] });
  });

  it('of a request come before all middleware, also if they are set after it', async () => {
    const adapter = new HookedAdapter();
    const see = (name: string): RequestHandler => {
      return (_request, { locals }, next) => {
        locals.seen = [...((locals.seen as string[] | undefined) ?? []), name];
        next();
      };
    };
    adapter.use(see('a middleware'));
    adapter.use(answer);
    adapter.setOnRequestHook((request, response, done) => void see('the hook')(request, response, () => done()));

    expect(await ask(adapter)).toEqual({ status: 200, body: ['the hook', 'a middleware'] });
  });

  it('of a response are called once, beside those of a request', async () => {
    const adapter = new HookedAdapter();
    const onRequest = jest.fn((_request: unknown, _response: unknown, done: () => void) => done());
    const onResponse = jest.fn();
    adapter.setOnRequestHook(onRequest);
    adapter.setOnResponseHook(onResponse);
    adapter.use(answer);

    await ask(adapter);

    expect([onRequest, onResponse].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  it('may refuse a request', async () => {
    const adapter = new HookedAdapter();
    adapter.use(answer);
    adapter.setOnRequestHook((_request, _response, done) => done(new Error('No')));

    expect((await ask(adapter)).status).toBe(500);
  });
});
