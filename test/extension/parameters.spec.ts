import { ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import { expectError, expectSuccess, times } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';
import { Level, UUID, asked, taken } from '../support/modules/cat-dtos';
import { CatsModule } from '../support/modules/cats';

describe('Parameters, as the documentation of Nest has them', () => {
  const api = useTestApi({ imports: [CatsModule] });
  const read = async (path: string, headers = {}) => {
    const answer = await api.get(`/cats${path}`, headers);
    expectSuccess(answer);
    return answer.body.data;
  };
  const refused = async (path: string, fields: Record<string, string>) =>
    expectError(await api.get(`/cats${path}`), 'VALIDATION_ERROR', { fields });

  describe('of a query in a class', () => {
    it('belong to one request, whatever its handler does to them', async () => {
      const path = '?tags=a,b&since=2026-01-31T12:00:00.000Z';
      const first = await read(path);
      const second = await read(path);

      expect(first).toMatchObject({ tags: ['a', 'b'], since: '2026-01-31T12:00:00.000Z', limit: 10 });
      expect(second).toEqual({ ...first, now: expect.any(String) });
      for (const text of ['a', 'b']) {
        const seen = { text, number: 3, isQuery: true };
        for (const query of times(3, () => `/plain?text=${text}&number=3`)) expect(await read(query)).toEqual(seen);
      }
    });

    it('have defaults that are made for each request', async () => {
      const [first, second] = [await read(''), await read('')];

      expect(Date.parse(second.now)).toBeGreaterThanOrEqual(Date.parse(first.now));
      expect(second.now).not.toBe(first.now);
      const labels = [await read('/counted?text=a'), await read('/counted?text=a'), await read('/counted?text=a')];
      expect(new Set(labels.map(({ label }) => label)).size).toBe(labels.length);
    });

    it('are validated by asynchronous rules each time', async () => {
      const before = asked;
      expect(await read('?name=tom')).toMatchObject({ name: 'tom' });
      taken.add('tom');
      await refused('?name=tom', { name: 'free' });
      taken.delete('tom');
      expect(await read('?name=tom')).toMatchObject({ name: 'tom' });

      expect(asked).toBe(before + 3);
    });

    it('are refused by name', async () => {
      await refused('?limit=0&since=yesterday&more=1', { limit: 'range', since: 'type', more: 'unknown' });
    });

    it('may be a plain object of any names', async () => {
      expect(await read('/all?a=1&b=2')).toEqual({ a: '1', b: '2', changeable: true });
    });
  });

  describe('of a query, one by one', () => {
    it('may be left out', async () => {
      expect(await read('/one')).toEqual({ page: 7, active: false, size: 20 });
    });

    it('are converted to the type that they are declared with', async () => {
      const path = '/one?x=1&page=2&active=true&flag=false&ids=1,2&rate=1.5&n=-2.50&b=false&size=3';

      expect(await read(path)).toEqual({
        x: '1',
        page: 2,
        active: true,
        flag: false,
        ids: [1, 2],
        rate: 1.5,
        n: -2.5,
        b: false,
        size: 3,
      });
      expect(await read('/levels?level=1')).toEqual({ level: Level.HIGH });
    });

    it.each([
      ['page=two', { page: 'invalid' }],
      ['active=2', { active: 'invalid' }],
      ['flag=2', { flag: 'invalid' }],
      ['ids=1,x', { ids: 'invalid' }],
      ['rate=x', { rate: 'invalid' }],
      ['n=x', { n: 'type' }],
      ['n=1e3', { n: 'type' }],
      ['n=0x10', { n: 'type' }],
      ['n=', { n: 'type' }],
      ['n=9007199254740993', { n: 'type' }],
      ['b=yes&size=many', { b: 'type', size: 'type' }],
      ['y=1', { y: 'unknown' }],
      ['x=1&x=2', { x: 'once' }],
    ])('are refused by name: %s', async (query, fields) => {
      await refused(`/one?${query}`, fields);
    });

    it('have to be declared where a handler reads the request itself', async () => {
      await refused('/requests?a=1', { a: 'unknown' });
      expect(await read('/declared?a=1')).toEqual({ a: '1' });
      await refused('/declared?b=1', { b: 'unknown' });
      const lines = api.app.log.filter(({ msg }) => String(msg).includes('CatsController.requests'));
      expect(lines).toHaveLength(1);
      expect(lines[0].msg).toContain('@ApiQuery');
    });
  });

  describe('of a path', () => {
    it('are converted to numbers', async () => {
      expect(await read('/numbers/12')).toEqual({ n: 12, type: 'number' });
      await refused('/numbers/twelve', { n: 'type' });
      await refused('/numbers/1e3', { n: 'type' });
    });

    it.each([
      ['ints/12', { count: 12 }],
      [`uuids/${UUID}`, { uuid: UUID }],
      ['colours/red', { colour: 'red' }],
      ['days/2026-02-28', { day: '2026-02-28T00:00:00.000Z' }],
      ['even/12', { even: 12 }],
    ])('are parsed by pipes: %s', async (path, seen) => {
      expect(await read(`/${path}`)).toEqual(seen);
    });

    it.each([
      ['ints/1x', 'count', 'Validation failed (numeric string is expected)'],
      ['uuids/1', 'uuid', 'Validation failed (uuid is expected)'],
      ['colours/green', 'colour', 'Validation failed (enum string is expected)'],
      ['days/2026-02-30', 'day', 'Validation failed (invalid date format)'],
      ['even/13', 'even', 'must be even'],
    ])('are refused by their name: %s', async (path, field, message) => {
      const { fields } = await refused(`/${path}`, { [field]: 'invalid' });

      expect(fields).toEqual([{ field, rule: 'invalid', message }]);
    });

    it('are refused with the status that the pipe says', async () => {
      const { message } = expectError(await api.get('/cats/strict/1x'), 'NOT_ACCEPTABLE');

      expect(message).toBe('Validation failed (numeric string is expected)');
    });

    it('are validated and converted as a class', async () => {
      expect(await read(`/parts/${UUID}/2`)).toEqual({ id: UUID, part: 2, type: 'number' });
      await refused('/parts/1/x', { id: 'uuid', part: 'type' });
    });
  });

  it('are headers, of any case', async () => {
    expect(await read('/headers', { 'X-One': '1' })).toEqual({ one: '1', all: '1' });
    expect(await read('/headers')).toEqual({});
  });

  it('are what a decorator of the application finds, validated by a pipe of its own', async () => {
    expect(await read('/custom?page=2', { 'X-Agent': '7' })).toEqual({ page: 2, agent: 7, isPage: true });
    await refused('/custom?page=9', { page: 'range' });
    await refused('/custom?page=2&more=1', { more: 'unknown' });
    expectError(await api.get('/cats/custom?page=2', { 'X-Agent': 'x' }), 'VALIDATION_ERROR', {
      fields: { 'x-agent': 'invalid' },
    });
  });

  describe('of a body', () => {
    const cat = { name: 'Tom', paid: true };
    const wrong = async (body: object, fields: Record<string, string | string[]>) =>
      expectError(await api.post('/cats', body), 'VALIDATION_ERROR', { fields });

    it('may be nested', async () => {
      const whole = { ...cat, address: { street: 'a' }, others: [{ street: 'b' }], numbers: [1], nick_name: 'To' };

      const seen = expectSuccess(await api.post('/cats', whole), 201, 'Created');
      expect(seen).toMatchObject({ ...cat, address: { street: 'a' }, others: [{ street: 'b' }], nickName: 'To' });
    });

    it('are refused by name, in plain words', async () => {
      const { fields, details } = await wrong(
        {
          name: 'T',
          paid: 1,
          email: 'x',
          address: { street: 1, more: 1 },
          others: [{}],
          numbers: ['x'],
          nick_name: 'T',
        },
        {
          name: 'length',
          paid: 'type',
          email: 'email',
          'address.street': 'type',
          'address.more': 'unknown',
          'others.0.street': 'type',
          numbers: 'type',
          nick_name: 'length',
        },
      );

      expect(fields!.every(({ rule }) => /^[a-z]+$/.test(rule))).toBe(true);
      expect(details).toContain('paid: must be a boolean value;');
      expect(details).toContain('email: is no address of ours;');
      expect(details).toContain('numbers: each value must be an integer number');
    });

    it.each([[1], ['x'], [[1]]])('are refused where they are %j instead of an object', async (address) => {
      const { fields } = expectError(await api.post('/cats', { ...cat, address }), 'VALIDATION_ERROR');

      expect(fields![0].field).toMatch(/^address/);
    });

    it('may be taken one by one', async () => {
      const path = '/cats/addresses';

      expect(expectSuccess(await api.post(path, { address: { street: 'a' }, note: 'b' }), 201, 'Created')).toEqual({
        address: { street: 'a' },
        note: 'b',
      });
      expectError(await api.post(path, { address: { street: 1 } }), 'VALIDATION_ERROR', {
        fields: { 'address.street': 'type' },
      });
    });

    it('are validated by asynchronous rules', async () => {
      taken.add('kitty');
      expectError(await api.post('/cats/free', { name: 'kitty' }), 'VALIDATION_ERROR', { fields: { name: 'free' } });
      taken.delete('kitty');
    });

    it('are validated by the groups that a route names', async () => {
      const path = '/cats/grouped';

      expect(expectSuccess(await api.put(path, { age: 1 }))).toEqual({ age: 1 });
      expectError(await api.put(path, {}), 'VALIDATION_ERROR', { fields: { age: 'type' } });
      expectError(await api.post(path, { age: 1 }), 'VALIDATION_ERROR', { fields: { name: 'required' } });
    });

    it('are named in the errors of another ValidationPipe', async () => {
      const answer = await api.post('/cats/strictest', { name: 'T', paid: 1, address: { street: 1 } });

      expectError(answer, 'VALIDATION_ERROR', {
        fields: { name: 'length', paid: 'type', 'address.street': 'type' },
      });
    });
  });
});

describe.each<ValidationPipeOptions>([
  { transform: true, whitelist: true },
  { transform: true, whitelist: true, forbidNonWhitelisted: true, validateCustomDecorators: true },
  { transform: true, transformOptions: { enableImplicitConversion: true } },
])('A second ValidationPipe for all routes: %j', (options) => {
  const api = useTestApi({
    imports: [CatsModule],
    prepare: (app) => void app.useGlobalPipes(new ValidationPipe(options)),
  });

  it('leaves lists of each version as they are', async () => {
    for (const version of [1, 2]) {
      const { status, body } = await api.get(`//api/v${version}/products?size=1`);

      expect(status).toBe(200);
      expect(Object.keys(body.pagination)).toContain(version === 1 ? 'total' : 'next');
    }
  });

  it('leaves the filters of lists as they are', async () => {
    const admin = await api.admin();
    const { id } = await new Fixtures(api, admin).product({ price: 9, stock: 0 });
    const shown = async (path: string, version = 1) => {
      const answer = await api.as(admin).get(`//api/v${version}${path}`);
      expect([path, answer.status, answer.body.error]).toEqual([path, 200, undefined]);
      return (answer.body.data as { id: number }[]).map((one) => one.id);
    };
    expectSuccess(await api.as(admin).patch(`/products/${id}`, { price: 8 }));

    for (const version of [1, 2]) {
      const of = (query: string) => shown(`/products?ids=${id}&${query}`, version);
      expect(await of('price[gte]=8&price[lt]=9&stock[lte]=0&created_at[lt]=2100-01-01T00:00:00Z')).toEqual([id]);
      expect(await of('price[gt]=8')).toEqual([]);
      expect(await of('updated_since=2000-01-01T00:00:00Z&fields=id&sort=price')).toEqual([id]);
      expect(await of('updated_since=2100-01-01T00:00:00Z')).toEqual([]);
      expect(await of('deleted=only')).toEqual([]);
      expect(await shown(`/audit-events?user_id=${admin.id},1&size=1`, version)).toHaveLength(1);
    }
  });

  it('leaves the fields of errors, and parameters, as they are', async () => {
    expectError(await api.get('/cats/ints/x'), 'VALIDATION_ERROR', { fields: { count: 'invalid' } });
    expectError(await api.post('/cats', { name: 'Tom' }), 'VALIDATION_ERROR', { fields: { paid: 'type' } });
    expect(expectSuccess(await api.get('/cats/numbers/2'))).toEqual({ n: 2, type: 'number' });
    expect(expectSuccess(await api.get('/cats/one?x=1'))).toMatchObject({ x: '1', page: 7 });
  });
});
