import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { type TestApi, useTestApi } from '../support/test-api';
import {
  CopyingInterceptor,
  LoggingInterceptor,
  ROUTES,
  ThingsModule,
  TransformInterceptor,
  calls,
  comparable,
  controllers,
  isReplayed,
  keyed,
  postThrice,
  seen,
  slow,
} from '../support/modules/intercepted';

describe('Interceptors of a controller', () => {
  const api = useTestApi({ imports: [ThingsModule] });

  it.each(Object.keys(controllers))('make of a POST with a key what they make of it without one: %s', async (name) => {
    for (const route of ROUTES) {
      const { without, withKey, again } = await postThrice(api, `/${name}${route}`);

      expect([route, comparable(withKey)]).toEqual([route, comparable(without)]);
      expect([route, comparable(again)]).toEqual([route, comparable(without)]);
      expect([without, withKey].map(isReplayed)).toEqual([false, false]);
    }
  });

  it.each([
    'none',
    'logging',
    'transform',
    'inner',
    'several',
    'exclude-null',
    'errors',
    'timeout',
    'retry',
    'copying',
  ])('leave a POST with a key its one effect, and its repetition the very same answer: %s', async (name) => {
    for (const route of ['', '/observed']) {
      const { withKey, again, rows } = await postThrice(api, `/${name}${route}`);

      expect([route, again.status, isReplayed(again), again.text]).toEqual([route, 201, true, withKey.text]);
      expect([route, rows]).toEqual([route, 2]);
    }
  });

  it.each(['none', 'failing', 'errors'])(
    'leave nothing of a POST with a key whose answer is an error, so that it may be sent again: %s',
    async (name) => {
      const route = name === 'failing' ? '/filtered' : '/failing';
      const { withKey, again, rows } = await postThrice(api, `/${name}${route}`);

      expect(withKey.status).toBeGreaterThanOrEqual(500);
      expect(isReplayed(again)).toBe(false);
      // That of the request without a key.
      expect(rows).toBe(1);
    },
  );

  it('see what a handler returns, with a key as without one, and at a repetition what was answered', async () => {
    seen.length = 0;
    const { withKey } = await postThrice(api, '/logging');

    const { data } = withKey.body as { data: object };
    expect(seen).toHaveLength(3);
    expect(JSON.parse(JSON.stringify(seen[1]))).toEqual(data);
    expect(seen[2]).toEqual(data);
  });

  it('call a handler again that has failed, and the attempts before leave nothing', async () => {
    const product = aProduct();
    const key = keyed();
    const answers = [await api.post('/retry/flaky', product, key), await api.post('/retry/flaky', product, key)];

    expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual([
      [201, false],
      [201, true],
    ]);
    expect(calls.filter((name) => name === product.name)).toHaveLength(3);
    expect(await api.repository(Product).countBy({ name: product.name })).toBe(1);
  });

  it('call a handler again that has succeeded, and its effect is there once', async () => {
    const product = aProduct();
    const answer = await api.post('/retry-behind', product, keyed());

    expect(answer.status).toBe(201);
    expect(calls.filter((name) => name === product.name)).toHaveLength(2);
    expect(await api.repository(Product).countBy({ name: product.name })).toBe(1);
  });

  it('answer that it took too long, and nothing is left of what the handler has done, or does later', async () => {
    const product = aProduct();
    const key = keyed();
    const answer = await api.post('/timeout/slow', product, key);
    const meanwhile = await api.post('/timeout/slow', product, key);
    slow.next();

    expect([answer.status, meanwhile.status]).toEqual([408, 409]);
    let retried = meanwhile;
    await waitFor(async () => (retried = await api.post('/timeout', product, key)).status !== 409);
    expect([retried.status, isReplayed(retried)]).toEqual([201, false]);
    expect(await api.repository(Product).countBy({ name: product.name })).toBe(1);
  });

  it('are none of the business of a handler that calls another', async () => {
    const { rows } = await postThrice(api, '/none/within/inner-product');
    expect(rows).toBe(0);
    expect(await api.repository(Product).countBy({ name: 'inner-product' })).toBe(2);
  });

  it.each(Object.keys(controllers).filter((name) => !/override|transform|several|failing|retry-behind/.test(name)))(
    'leave a list a list, with its links, and an item an item: %s',
    async (name) => {
      const { body } = await api.post('/products', aProduct(), await asAdmin(api));
      const plain = await api.get('/none?size=1&search=product');
      const list = await api.get(`/${name}?size=1&search=product`);
      const item = await api.get(`/${name}/${body.data.id}`);

      expect(list.body).toEqual({ ...plain.body, timestamp: expect.any(Number) });
      expect(list.headers.get('link')).toBe(plain.headers.get('link')!.replaceAll('/none?', `/${name}?`));
      expect(item.body.data).toEqual(body.data);
      // A copy of everything has lost what it is made of.
      expect(item.headers.get('etag')).toBe(name === 'copying' ? null : '"1"');
      const second = await api.get(`//api/v2/${name}?size=1`);
      const { next } = second.body.pagination;
      expect((await api.get(`//api/v2/${name}?size=1&cursor=${next}`)).body.pagination.previous).toEqual(
        expect.any(String),
      );
    },
  );

  it('put a list into what they put it into', async () => {
    const plain = (await api.get('/none?size=1')).body;
    const { data } = (await api.get('/transform?size=1')).body;

    expect(data).toEqual({ data: { data: plain.data, pagination: plain.pagination } });
  });
});

async function asAdmin(api: TestApi): Promise<Record<string, string>> {
  return { Authorization: `Bearer ${(await api.admin()).token}` };
}

describe.each([TransformInterceptor, CopyingInterceptor])(
  'An interceptor of the whole application (%p)',
  (useClass) => {
    @Module({ imports: [ThingsModule], providers: [{ provide: APP_INTERCEPTOR, useClass }] })
    class TeamModule {}
    const api = useTestApi({
      imports: [TeamModule],
      prepare: (app) => void app.useGlobalInterceptors(new LoggingInterceptor()),
    });

    it('makes of a POST with a key what it makes of it without one', async () => {
      for (const route of ROUTES) {
        const { without, withKey, again } = await postThrice(api, `/none${route}`);

        expect([route, comparable(withKey)]).toEqual([route, comparable(without)]);
        if (without.status === 201) expect([isReplayed(again), again.text]).toEqual([true, withKey.text]);
      }
    });
  },
);
