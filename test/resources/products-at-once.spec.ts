import { randomUUID } from 'node:crypto';
import { expectError, times } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { documentOf } from '../support/contract';
import { type TestUser, useTestApi } from '../support/test-api';

const LENIENT = { Prefer: 'handling=lenient' };
const LINES = { 'Content-Type': 'application/x-ndjson' };

describe('POST /products with a list', () => {
  const api = useTestApi();
  let admin: TestUser;

  const count = () => api.repository(Product).count();
  const named = (...names: string[]) => names.map((name) => aProduct({ name }));

  beforeAll(async () => {
    admin = await api.admin();
  });

  it('creates all of them, and answers them in the order of the request', async () => {
    const before = await count();
    const names = times(1_000, (number) => `Product ${number}`);
    const { status, body, headers } = await api.as(admin).post('/products', named(...names));

    expect(status).toBe(201);
    expect(body).toEqual({ code: 201, message: 'Created', data: expect.any(Array), timestamp: expect.any(Number) });
    expect(body.data.map(({ name }: Product) => name)).toEqual(names);
    expect(headers.get('location')).toBeNull();
    expect(headers.get('etag')).toBeNull();
    expect(await count()).toBe(before + names.length);
    const [first] = body.data;
    expect((await api.get(`/products/${first.id}`)).body.data).toEqual(first);
  });

  it('gives inputs that leave attributes out their defaults', async () => {
    const inputs = [{ name: 'Bare', price: 1 }, aProduct({ name: 'Whole', stock: 7, description: 'All of it' })];
    const { body } = await api.as(admin).post('/products', inputs);

    expect(body.data).toMatchObject([
      { name: 'Bare', stock: 0, description: null, status: 'ACTIVE' },
      { name: 'Whole', stock: 7, description: 'All of it' },
    ]);
  });

  it('takes an input on each line of application/x-ndjson', async () => {
    const lines = named('First line', 'Second line').map((one) => `${JSON.stringify(one)}\n`);
    const { status, body } = await api.as(admin).post('/products', lines.join(''), LINES);

    expect(status).toBe(201);
    expect(body.data.map(({ name }: Product) => name)).toEqual(['First line', 'Second line']);
  });

  it('creates none if one input is wrong, and names all wrong ones by their positions', async () => {
    const before = await count();
    const inputs = [...named('Right', 'Right too'), { price: 1 }, 'no object', aProduct({ price: -1 })];
    const { fields } = expectError(await api.as(admin).post('/products', inputs), 'VALIDATION_ERROR');

    expect(fields!.map(({ field }) => field)).toEqual(expect.arrayContaining(['2.name', '3', '4.price']));
    expect(await count()).toBe(before);
  });

  it.each([
    ['an empty list', []],
    ['more than 1,000 inputs', times(1_001, () => ({ name: 'One of many', price: 1 }))],
    ['a list in a list', [[aProduct({ name: 'Nested' })]]],
    ['null', [null]],
    ['an unknown attribute', [{ ...aProduct({ name: 'Known' }), colour: 'red' }]],
    ['the name of a property of every object', [JSON.parse('{"name":"A","price":1,"constructor":1}')]],
    ['more than 20,000 values', times(1_000, () => ({ name: 'A', price: 1, values: times(30, String) }))],
  ])('answers 400 to %s', async (_what, body) => {
    const before = await count();

    expectError(await api.as(admin).post('/products', body), 'VALIDATION_ERROR');
    expect(await count()).toBe(before);
  });

  it.each(['{"name":"A","price":1}\n\n{"name":"B","price":1}', '{"name":"A",\n"price":1}', '', '\n'])(
    'answers 400 to lines that are no inputs: %j',
    async (text) => {
      const answer = await api.as(admin).post('/products', text, LINES);

      expectError(answer, 'VALIDATION_ERROR');
    },
  );

  it.each(Object.values(LINES).flatMap((type) => [type, `${type}; charset=utf-8`]))(
    'takes an empty body of %s for no input, not for one without attributes',
    async (type) => {
      const answer = await api.as(admin).post('/products', '', { 'Content-Type': type });

      expect(expectError(answer, 'VALIDATION_ERROR').fields).toMatchObject([{ field: 'body', rule: 'size' }]);
    },
  );

  it('answers 400 to one object with as many values as a list may have', async () => {
    const object = { ...aProduct({ name: 'A' }), values: times(600, String) };

    const { details } = expectError(await api.as(admin).post('/products', object), 'VALIDATION_ERROR');
    expect(details).toContain('500 values');
  });

  it('answers 403 to a user, and 415 to lines where one resource is replaced', async () => {
    const product = (await api.as(admin).post('/products', aProduct({ name: 'Replaced' }))).body.data;

    expectError(await api.as(await api.user()).post('/products', named('Not theirs')), 'FORBIDDEN');
    expectError(await api.as(admin).put(`/products/${product.id}`, '{}', LINES), 'UNSUPPORTED_MEDIA_TYPE');
    expectError(await api.as(admin).put(`/products/${product.id}`, named('A list')), 'VALIDATION_ERROR');
  });

  describe('with Prefer: handling=lenient', () => {
    it('answers 207 with a result for each input, and creates the right ones', async () => {
      const before = await count();
      const inputs = [aProduct({ name: 'Right' }), { price: 1 }, aProduct({ name: 'Right too' }), 7];
      const answer = await api.as(admin).post('/products', inputs, LENIENT);

      expect(answer.status).toBe(207);
      expect(answer.headers.get('preference-applied')).toBe('handling=lenient');
      expect(answer.body).toMatchObject({ code: 207, message: 'Multi-Status' });
      expect(answer.body.data).toMatchObject([
        { status: 201, data: { name: 'Right' } },
        { status: 400, error: { code: 'VALIDATION_ERROR', fields: [{ field: 'name' }] } },
        { status: 201, data: { name: 'Right too' } },
        { status: 400, error: { code: 'VALIDATION_ERROR' } },
      ]);
      expect(await count()).toBe(before + 2);
    });

    it.each([7, null, 'text', true, [], [aProduct({ name: 'Nested' })]])(
      'names the body where an input is no object: %j',
      async (input) => {
        const { body } = await api.as(admin).post('/products', [aProduct({ name: 'Beside it' }), input], LENIENT);

        const { fields, details } = body.data[1].error;
        expect(fields).toEqual([{ field: 'body', rule: 'type', message: 'must be an object' }]);
        expect(details).toBe('body: must be an object');
      },
    );

    it('answers 207 if all inputs are wrong', async () => {
      const { status, body } = await api.as(admin).post('/products', [{}, {}], LENIENT);

      expect(status).toBe(207);
      expect(body.data.map((one: { status: number }) => one.status)).toEqual([400, 400]);
    });

    it.each(['handling=strict', 'handling=strict, handling=lenient', 'return=minimal', `x=${'y'.repeat(300)}`])(
      'creates all or none if the preference is another: %s',
      async (Prefer) => {
        expectError(await api.as(admin).post('/products', [{}], { Prefer }), 'VALIDATION_ERROR');
      },
    );

    it('changes nothing for an input that comes alone', async () => {
      const answer = await api.as(admin).post('/products', aProduct({ name: 'Alone' }), LENIENT);

      expect(answer.status).toBe(201);
      expect(answer.headers.get('preference-applied')).toBeNull();
    });
  });

  describe('with an Idempotency-Key', () => {
    it.each([{}, LENIENT])('creates them once: %j', async (preference) => {
      const before = await count();
      const headers = { 'Idempotency-Key': randomUUID(), ...preference };
      const inputs = named('Once', 'Only');
      const answers = [
        await api.as(admin).post('/products', inputs, headers),
        await api.as(admin).post('/products', inputs, headers),
      ];

      expect(answers[1]).toMatchObject({ status: answers[0].status, text: answers[0].text });
      expect(answers[1].headers.get('idempotent-replayed')).toBe('true');
      expect(await count()).toBe(before + 2);
    });

    it('answers 422 if the preference differs', async () => {
      const headers = { 'Idempotency-Key': randomUUID() };
      const inputs = named('Strict');
      await api.as(admin).post('/products', inputs, headers);

      const again = await api.as(admin).post('/products', inputs, { ...headers, ...LENIENT });
      expectError(again, 'IDEMPOTENCY_KEY_REUSED');
    });
  });

  it('answers resources as the document describes one', async () => {
    const document = documentOf('1');
    const operation = document.operations.find(({ spec }) => spec.operationId === 'getProduct')!;
    const { schema } = document.response(operation, 200).content['application/json'];
    const { body } = await api.as(admin).post('/products', named('Described', 'As one'));

    for (const data of body.data) {
      expect(document.violations(schema, { ...body, code: 200, message: 'OK', data })).toEqual([]);
    }
  });
});
