import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import { Allow } from 'class-validator';
import { codeOfStatus, kibibytes, mebibytes, Public } from '../../src/platform';
import { expectError, expectSuccess, sendRaw, times } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';
import { BodiesModule, FORM, ThingDto, asForm, multipart, sign, thing } from '../support/modules/bodies';

describe('Bodies, as the documentation of Nest and Express has them', () => {
  const api = useTestApi({ imports: [BodiesModule] });
  const post = (path: string, body: unknown, headers = {}) => api.post(`/bodies/${path}`, body, headers);
  const taken = async (path: string, body: unknown, headers = {}) =>
    expectSuccess(await post(path, body, headers), 201, 'Created');
  const refused = async (path: string, body: unknown, fields: Record<string, string | string[]>, headers = {}) =>
    expectError(await post(path, body, headers), 'VALIDATION_ERROR', { fields });
  const send = async (path: string, form: FormData, headers = {}) => {
    const response = await fetch(`${api.url}/api/v1/bodies/${path}`, { method: 'POST', body: form, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  describe('that are lists', () => {
    it('are validated item by item', async () => {
      expect(await taken('lists', [thing, thing])).toEqual({ things: [thing, thing], areThings: true });
      expect(await taken('lists', [])).toEqual({ things: [], areThings: true });
      expect(await taken('numbers', [1, '2'])).toEqual({ numbers: [1, 2] });
    });

    it('are refused by the place of what is wrong', async () => {
      await refused('lists', [thing, { title: 1, more: 1, count: 1 }, 'x', null, [thing]], {
        '1.title': ['length', 'type'],
        '1.more': 'unknown',
        '2': 'type',
        '3': 'type',
        '4': 'type',
      });
      await refused('lists', `[{"title":"thing","count":1,"__proto__":{"a":1}}]`, { '0.__proto__': 'unknown' });
      await refused('lists', thing, { body: 'invalid' });
      await refused('lists', undefined, { body: 'invalid' });
      await refused('numbers', ['x'], { body: 'invalid' });
      await refused('loose-lists', [{ title: 1, count: 1 }], { title: ['length', 'type'] });
    });

    it('hold as many values as any body, and name as many violations', async () => {
      await refused(
        'lists',
        times(251, () => thing),
        { body: 'size' },
      );
      const { fields } = expectError(
        await post(
          'lists',
          times(200, () => ({})),
        ),
        'VALIDATION_ERROR',
      );
      expect(fields).toHaveLength(20);
    });

    it('are taken by handlers that take anything, and by no others', async () => {
      expect(await taken('any', [1])).toEqual({ body: [1] });
      await refused('things', [thing], { body: 'type' });
    });

    it('stop the start where nothing says what their items are', async () => {
      @Controller('forgotten')
      @Public()
      class ForgottenController {
        @Post()
        create(@Body() _things: ThingDto[]): void {}
      }
      @Module({ controllers: [ForgottenController] })
      class ForgottenModule {}

      const start = startApp({ imports: [ForgottenModule], databaseUrl: api.app.databaseUrl });
      await expect(start).rejects.toThrow(/ParseArrayPipe[^]*ForgottenController\.create/);
    });
  });

  describe('that are forms', () => {
    const type = { 'Content-Type': FORM };

    it('are read where the route says so', async () => {
      expect(await taken('forms', asForm(thing), type)).toEqual(thing);
      expect(await taken('both', asForm(thing), type)).toEqual(thing);
      expect(await taken('both', thing)).toEqual(thing);
    });

    it('are refused elsewhere, and JSON there', async () => {
      expectError(await post('things', asForm(thing), type), 'UNSUPPORTED_MEDIA_TYPE');
      const { details } = expectError(await post('forms', thing), 'UNSUPPORTED_MEDIA_TYPE');
      expect(details).toContain(FORM);
    });

    it('are validated, have each name once, and have a bound', async () => {
      await refused('forms', 'title=t&count=x&more=1', { title: 'length', count: 'type', more: 'unknown' }, type);
      await refused('forms', 'title=thing&title=thing&count=1', { title: 'once' }, type);
      await refused('forms', 'title=%ff', { title: 'encoding' }, type);
      await refused('forms', '__proto__=1&title=thing&count=1', { ['__proto__']: 'unknown' }, type);
      await refused('forms', times(101, (n) => `a${n}=1`).join('&'), { body: 'size' }, type);
      await refused('forms', '', { title: ['length', 'type'], count: 'type' }, type);
      expectError(await post('forms', 'a'.repeat(2 ** 20 + 1), type), 'PAYLOAD_TOO_LARGE');
    });
  });

  describe('that are forms with files', () => {
    it('are read by the interceptors of Nest, and their fields validated', async () => {
      const answers = await Promise.all([
        send('files', multipart(thing, { file: 'abc' })),
        send('several-files', multipart(thing, { files: 'abc' })),
        send('named-files', multipart(thing, { one: 'a', two: 'b' })),
        send('any-files', multipart(thing, { other: 'a' })),
        send('no-files', multipart(thing)),
      ]);

      expect(answers.map((answer) => expectSuccess(answer, 201, 'Created'))).toEqual([
        { ...thing, isThing: true, file: 'file.txt', size: 3 },
        { ...thing, files: ['files.txt'] },
        { ...thing, files: ['one', 'two'] },
        { ...thing, files: ['other.txt'] },
        thing,
      ]);
    });

    it('may be streamed by handlers that take the request', async () => {
      const type = { 'Content-Type': 'multipart/form-data; boundary=x' };
      const answer = await api.put('/bodies/streamed-files', 'a'.repeat(2 ** 21), type);

      expect(expectSuccess(answer)).toEqual({ size: 2 ** 21 });
    });

    it('may be JSON instead, unless the route says that they may not', async () => {
      expect(await taken('no-files', thing)).toEqual(thing);
      const documented = await send('documented-files', multipart(thing, { file: 'abc' }));
      expect(expectSuccess(documented, 201, 'Created')).toEqual({ ...thing, size: 3 });
      const { details } = expectError(await post('documented-files', thing), 'UNSUPPORTED_MEDIA_TYPE');
      expect(details).toContain('multipart/form-data');
    });

    it('are refused by name', async () => {
      const wrong = await send('files', multipart({ title: 't', count: 1, more: 1 }, { file: 'abc' }));

      expectError(wrong, 'VALIDATION_ERROR', { fields: { title: 'length', more: 'unknown' } });
      const large = await send('small-files', multipart({}, { picture: 'abc' }));
      expectError(large, 'VALIDATION_ERROR', { fields: { picture: 'invalid' } });
      const several = (files: Record<string, string>) => send('several-small-files', multipart({}, files));
      expectError(await several({ only: 'abc' }), 'VALIDATION_ERROR', { fields: { only: 'invalid' } });
      // Which of them it was, the pipe tells nobody.
      const [one, two] = ['a', 'abc'];
      expectError(await several({ one, two }), 'VALIDATION_ERROR', { fields: { request: 'invalid' } });
      expectError(await send('things', multipart(thing)), 'UNSUPPORTED_MEDIA_TYPE');
    });

    it.each([
      ['required-files', 'file'],
      ['several-required-files', 'pictures'],
      ['required-named-files', 'photo'],
    ])('are missed by the name of their field: %s', async (path, field) => {
      expectError(await send(path, multipart({})), 'VALIDATION_ERROR', { fields: { [field]: 'invalid' } });
    });

    it.each(['required-of-several', 'required-any-files'])(
      'are missed as a whole where they may have several fields: %s',
      async (path) => {
        expectError(await send(path, multipart({})), 'VALIDATION_ERROR', { fields: { request: 'invalid' } });
      },
    );

    it('are as long as any body, unless the route says something else', async () => {
      const large = multipart(thing, { file: 'a'.repeat(2 * 2 ** 20) });

      expectError(await send('files', large), 'PAYLOAD_TOO_LARGE');
      expect(expectSuccess(await send('large-files', large), 201, 'Created')).toEqual({ size: 2 * 2 ** 20 });
      const chunked = 'POST /api/v1/bodies/files HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n';
      const answer = await sendRaw(
        api.app.port,
        `${chunked}Content-Type: multipart/form-data; boundary=x\r\n\r\n5\r\n--x--\r\n0\r\n\r\n`,
      );
      expectError(answer, codeOfStatus(411));
    });

    it('have no idempotency key, and come after 401', async () => {
      const key = { 'Idempotency-Key': 'a key' };

      expectError(await send('keyed-files', multipart(thing), key), 'VALIDATION_ERROR', {
        fields: { 'Idempotency-Key': 'unknown' },
      });
      expectSuccess(await send('keyed-files', multipart(thing)), 201, 'Created');
      expectError(await send('admin-files', multipart(thing)), 'UNAUTHORIZED');
    });
  });

  describe('that are neither', () => {
    it('are text or bytes where the route says so', async () => {
      expect(await taken('texts', 'Zoë', { 'Content-Type': 'text/plain' })).toEqual({ text: 'Zoë' });
      expect(await taken('texts', '<a/>', { 'Content-Type': 'application/xml' })).toEqual({ text: '<a/>' });
      expect(await taken('bytes', Buffer.of(1, 2, 255), { 'Content-Type': 'application/pdf' })).toEqual({
        length: 3,
        isBuffer: true,
      });
      await refused('texts', Buffer.of(0xff), { body: 'encoding' }, { 'Content-Type': 'text/plain' });
      expectError(await post('texts', 'a', { 'Content-Type': 'text/html' }), 'UNSUPPORTED_MEDIA_TYPE');
      expectError(await post('texts', 'é', { 'Content-Type': 'text/plain; charset=latin1' }), 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('are streamed by handlers that take the request', async () => {
      const body = 'a'.repeat(2 ** 21);
      const answer = await api.put('/bodies/streams', body, { 'Content-Type': 'application/octet-stream' });

      expect(expectSuccess(answer)).toEqual({ size: 2 ** 21 });
    });
  });

  describe('that are signed', () => {
    it('are there as the bytes that came, beside what they mean', async () => {
      const body = '{ "title": "thing",\n "count": 2 }';

      expect(await taken('signed', body, { 'X-Signature': sign(body) })).toEqual(thing);
      expectError(await post('signed', body, { 'X-Signature': sign(JSON.stringify(thing)) }), 'UNAUTHORIZED');
      expect(await taken('raw', body)).toEqual({ raw: body, body: thing });
      expect(await taken('raw', 'a=1', { 'Content-Type': FORM })).toEqual({ raw: 'a=1', body: { a: '1' } });
      expect(await taken('raw', 'text', { 'Content-Type': 'text/plain' })).toEqual({});
      expect(await taken('raw-parameters', body)).toEqual({ raw: body, ...thing });
    });
  });

  it('hold more values where a route says so', async () => {
    const lines = (count: number) => ({ lines: times(count, (n) => ({ label: `line ${n}`, amount: n })) });

    expect(await taken('invoices', lines(700))).toEqual({ lines: 700 });
    const padded = JSON.stringify(lines(700)).padEnd(mebibytes(1) + kibibytes(1));
    expect(await taken('invoices', padded)).toEqual({ lines: 700 });
    await refused('invoices', lines(2_000), { body: 'size' });
    expectError(await post('invoices', padded.padEnd(mebibytes(2) + 1)), 'PAYLOAD_TOO_LARGE');
  });

  it('are undefined where there are none', async () => {
    expectSuccess(await api.get('/bodies/nothing'));
  });
});

describe('A class without a rule', () => {
  class CreateCatDto {
    name: string;
  }
  class CreateDogDto {
    @Allow()
    name: string;
  }
  class CreatePuppyDto extends CreateDogDto {}
  @Controller('cats')
  @Public()
  class CatsController {
    @Post()
    create(@Body() cat: CreateCatDto): object {
      return cat;
    }

    @Get()
    find(@Query() query: CreateCatDto): object {
      return query;
    }

    @Post('dogs')
    createDog(@Body() dog: CreateDogDto): object {
      return dog;
    }

    @Post('puppies')
    createPuppy(@Body() puppy: CreatePuppyDto, @Query('name') _name?: string): object {
      return puppy;
    }

    @Post('any')
    createAny(@Body() any: Record<string, unknown>): object {
      return any;
    }
  }
  @Module({ controllers: [CatsController] })
  class CatsModule {}
  const api = useTestApi({ imports: [CatsModule] });

  it('allows no attribute, and the log of the start says so and how to mend it', async () => {
    expectError(await api.post('/cats', { name: 'Tom' }), 'VALIDATION_ERROR', { fields: { name: 'unknown' } });
    expectError(await api.get('/cats?name=Tom'), 'VALIDATION_ERROR', { fields: { name: 'unknown' } });
    for (const path of ['dogs', 'puppies', 'any'])
      expect((await api.post(`/cats/${path}`, { name: 'Rex' })).status).toBe(201);

    const lines = api.app.log.map(({ msg }) => String(msg)).filter((line) => line.includes('have no rules'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('@IsString(), or @Allow()');
    expect(lines[0].split('\n').slice(1)).toEqual([
      '  - CatsController.create: CreateCatDto',
      '  - CatsController.find: CreateCatDto',
    ]);
  });
});
