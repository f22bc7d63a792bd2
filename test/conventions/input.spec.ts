import { deflateSync, gzipSync } from 'node:zlib';
import { Body, Controller, Get, Module, Patch, Post, Query, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { PartialType } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import { Public } from '../../src/platform/auth/access.decorators';
import { Answers } from '../../src/platform/routes/route.decorators';
import { BodyLimit, kibibytes } from '../../src/platform/pipeline/body-limit';
import { EmailAddress, Id, ListOf, Money, OneOf, SomeOf, Text, Whole } from '../../src/platform/input/attributes';
import { IdParam } from '../../src/platform/input/id.pipe';
import { isPure } from '../../src/platform/input/pure';
import { User } from '../../src/resources/users/user.entity';
import { expectError, expectSuccess } from '../support/expectations';
import { sendRaw } from '../support/raw-http';
import { type TestUser, times, useTestApi } from '../support/test-api';

class PartDto {
  @Id()
  product_id: number;

  @Whole({ min: 1, max: 1000 })
  quantity: number;
}

const SMALL = kibibytes(1);
/** Bytes of the longest answer to a request that is all wrong. */
const MAX_ERROR = 65_536;
/** Costs the square of its length when it is composed. */
const MARKS = '\u0316\u0301';

/** One attribute of each kind. */
class ThingDto {
  @Text({ min: 1, max: 5 })
  title: string;

  @Text({ max: 50, multiline: true, optional: true })
  content?: string;

  @Money({ optional: true })
  price?: number;

  @Whole({ default: 0 })
  stock?: number;

  @Text({ min: 2, max: 2, pattern: /[A-Z]+/, message: 'must be capital letters', optional: true })
  country?: string;

  @OneOf(['NEW', 'OLD'], { optional: true })
  status?: string;

  @SomeOf({ RED: 'RED', BLUE: 'BLUE' }, { optional: true })
  tags?: string[];

  @Id({ optional: true, nullable: true })
  parent_id?: number | null;

  @EmailAddress({ optional: true })
  contact?: string;

  @ListOf(() => PartDto, { min: 1, max: 3, optional: true })
  items?: PartDto[];
}

class PatchThingDto extends PartialType(ThingDto, { skipNullProperties: false }) {}

class FindThingsQuery {
  @Text({ min: 1, max: 5, optional: true })
  search?: string;

  /** Not a parameter. */
  get pattern(): string {
    return `%${this.search}%`;
  }
}

/** Answers with what it understood. */
@Controller('things')
@Public()
class ThingsController {
  @Get()
  list(@Query() query: FindThingsQuery): object {
    return query;
  }

  @Get(':id')
  @Answers(ThingDto)
  get(@IdParam() id: number): object {
    return { id, title: 'a thing' };
  }

  @Post()
  create(@Body() input: ThingDto): object {
    return input;
  }

  @Patch(':id')
  update(@IdParam() id: number, @Body() changes: PatchThingDto): object {
    return { id, ...changes };
  }
}

@Controller('notes')
@Public()
@BodyLimit(SMALL)
class NotesController {
  @Post()
  create(@Body() input: ThingDto): object {
    return input;
  }

  @Patch()
  @BodyLimit(2 * SMALL)
  update(@Body() changes: PatchThingDto): object {
    return changes;
  }
}

@Module({ controllers: [ThingsController, NotesController] })
class ThingsModule {}

describe('what comes in', () => {
  const api = useTestApi({ imports: [ThingsModule] });
  let ada: TestUser;

  beforeAll(async () => {
    ada = await api.user({ username: 'ada' });
  });

  const aThing = (more: object = {}) => ({ title: 'thing', ...more });
  /** What the API understood of a body, or the rules that it broke. */
  const understood = async (body: unknown) => expectSuccess(await api.post('/things', body), 201, 'Created');
  const refused = async (body: unknown, fields: Record<string, string | string[]>) =>
    expectError(await api.post('/things', body), 'VALIDATION_ERROR', { fields });

  describe('as a body', () => {
    it.each([
      ['arrays', 5_000, '[', ']'],
      ['arrays', 200_000, '[', ']'],
      ['objects', 5_000, '{"a":', '1}'],
      ['objects', 100_000, '{"a":', '1}'],
    ])('is refused when %s nest %d deep', async (_name, depth, open, close) => {
      const nested = open.repeat(depth) + close.replace('1', '').repeat(depth).replace('}', '1}');

      await refused(`{"title":"thing","content":${nested}}`, { body: 'depth' });
      await refused(`{"title":"thing","content":${open.repeat(depth)}}`, { body: 'depth' });
    });

    it.each([
      ['attributes', `{${times(50_000, (n) => `"a${n}":1`).join()}}`],
      ['items', `{"title":"thing","items":[${times(300_000, () => '{}').join()}]}`],
      ['names', `{"title":"thing","tags":[${times(100_000, () => '"RED"').join()}]}`],
      ['empty lists', `{"title":"thing","tags":[${times(501, () => '[]').join()}]}`],
      ['values behind texts', `{"title":"\\\\","content":"\\",",${times(500, (n) => `"a${n}":1`).join()}}`],
    ])('is refused as a whole when it holds too many %s', async (_name, body) => {
      const answer = await api.post('/things', body);

      expectError(answer, 'VALIDATION_ERROR', { fields: { body: 'size' } });
      expect(answer.text.length).toBeLessThan(1_000);
    });

    it.each(['[]', '[{"title":"thing"}]', '"thing"', '1', 'true', 'null'])('is an object, not %s', async (body) => {
      await refused(body, { body: 'type' });
    });

    it.each([
      '{',
      '{"title":"thing",}',
      "{'title':'thing'}",
      '{"title":NaN}',
      '{}{}',
      'undefined',
      ' ',
      '\ufeff{}',
      '{"a":"\n"}',
    ])('is JSON, not %j', async (body) => {
      await refused(body, { body: 'json' });
    });

    it('is not echoed when it is malformed', async () => {
      const answer = await api.post('/auth/tokens', '{"username":"ada","password":"open sesame');

      expectError(answer, 'VALIDATION_ERROR', { fields: { body: 'json' }, secret: 'sesame' });
    });

    it('may be left out, which is the same as an empty object', async () => {
      await refused(undefined, { title: 'required' });
      await refused('', { title: 'required' });
      await refused({}, { title: 'required' });
    });

    it.each([
      ['a byte that never occurs', [0xff]],
      ['an overlong slash', [0xc0, 0xaf]],
      ['half a character', [0xe2, 0x82]],
      ['a surrogate', [0xed, 0xa0, 0x80]],
      ['a letter of Latin-1', [0xe9]],
    ])('is UTF-8, not %s', async (_name, bytes) => {
      const body = Buffer.concat([Buffer.from('{"title":"'), Buffer.from(bytes), Buffer.from('"}')]);

      await refused(body, { body: 'encoding' });
    });

    it.each([
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json; version=1',
    ])('may be %s', async (type) => {
      expect(await api.post('/things', aThing(), { 'Content-Type': type })).toMatchObject({ status: 201 });
    });

    it.each([
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=a',
      'text/plain',
      'text/json',
      'application/xml',
      'application/jsonp',
      'application/merge-patch+json',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      'json',
      '*/*',
    ])('may not be %s', async (type) => {
      expectError(await api.post('/things', aThing(), { 'Content-Type': type }), 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('must say what it is', async () => {
      const head = 'POST /api/v1/things HTTP/1.1\r\nHost: x\r\n';

      expectError(
        await sendRaw(api.app.port, `${head}Content-Length: 17\r\n\r\n{"title":"thing"}`),
        'UNSUPPORTED_MEDIA_TYPE',
      );
    });

    it('may be a merge patch where it is a PATCH', async () => {
      const type = { 'Content-Type': 'application/merge-patch+json' };

      expect(await api.patch('/things/1', { stock: 1 }, type)).toMatchObject({ status: 200 });
      expectError(await api.patch('/things/1', 'stock=1', { 'Content-Type': 'text/plain' }), 'UNSUPPORTED_MEDIA_TYPE');
    });

    it.each([
      ['gzip', gzipSync],
      ['GZIP', gzipSync],
      ['deflate', deflateSync],
      ['identity', (text: string) => Buffer.from(text)],
    ])('may be compressed by %s', async (encoding, compress) => {
      const body = compress(JSON.stringify(aThing()));

      expect(await api.post('/things', body, { 'Content-Encoding': encoding })).toMatchObject({
        status: 201,
        body: { data: aThing() },
      });
    });

    it('must be compressed as it says', async () => {
      const gzip = { 'Content-Encoding': 'gzip' };
      const whole = gzipSync(JSON.stringify(aThing()));

      for (const body of [Buffer.from('garbage'), whole.subarray(0, 20), Buffer.alloc(100_000, 'a')]) {
        expectError(await api.post('/things', body, gzip), 'VALIDATION_ERROR', { fields: { body: 'compression' } });
      }
      expectError(await api.post('/things', whole), 'VALIDATION_ERROR', { fields: { body: 'encoding' } });
    });

    it.each(['zip', 'gzip, gzip', 'compress', 'br', 'zstd'])('may not be compressed by %s', async (encoding) => {
      const answer = await api.post('/things', gzipSync('{}'), { 'Content-Encoding': encoding });

      expectError(answer, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('may be a megabyte, and no more', async () => {
      const fill = (length: number) => `{"title":"thing"${' '.repeat(length - 17)}}`;

      expect(await api.post('/things', fill(2 ** 20))).toMatchObject({ status: 201 });
      expectError(await api.post('/things', fill(2 ** 20 + 1)), 'PAYLOAD_TOO_LARGE');
      expectError(
        await api.post('/things', gzipSync(fill(2 ** 20 + 1)), { 'Content-Encoding': 'gzip' }),
        'PAYLOAD_TOO_LARGE',
      );
    });

    it('may hold any number of commas and brackets in its texts', async () => {
      const content = '"\\,[{'.repeat(200).slice(0, 50);

      expect(await understood(aThing({ content }))).toMatchObject({ content });
      await refused(aThing({ content: ',[{"\\'.repeat(2_000) }), { content: 'length' });
    });

    it('is no longer than its route or its controller says', async () => {
      const fill = (bytes: number) =>
        JSON.stringify(aThing({ content: '' })).replace('""', `"${' '.repeat(bytes - 30)}"`);
      const sendTo = (method: string, bytes: number, headers = {}) => {
        const body = fill(bytes);
        expect(Buffer.byteLength(body)).toBe(bytes);
        return api.send(method, '/notes', 'Content-Encoding' in headers ? gzipSync(body) : body, headers);
      };

      for (const [method, limit] of [
        ['POST', SMALL],
        ['PATCH', 2 * SMALL],
      ] as const) {
        expectError(await sendTo(method, limit), 'VALIDATION_ERROR', { fields: { content: 'length' } });
        const { details } = expectError(await sendTo(method, limit + 1), 'PAYLOAD_TOO_LARGE');
        expect(details).toContain(String(limit));
        expectError(await sendTo(method, limit + 1, { 'Content-Encoding': 'gzip' }), 'PAYLOAD_TOO_LARGE');
      }
    });

    it.each(['POST', 'PUT', 'DELETE'])('is at most 16 KiB where tokens are asked for: %s', async (method) => {
      const body = (bytes: number) => `{"a":"${'a'.repeat(bytes - 8)}"}`;

      expectError(await api.send(method, '/auth/tokens', body(16_384)), 'VALIDATION_ERROR');
      expectError(await api.send(method, '/auth/tokens', body(16_385)), 'PAYLOAD_TOO_LARGE');
    });

    it('is told each rule that it breaks, at once', async () => {
      const items = [{ product_id: 0 }, { product_id: 1, quantity: 0, color: 1 }];

      await refused(
        { title: '\0too long', price: 0.001, stock: '1', status: 'GONE', more: 1, items },
        {
          title: ['characters', 'length'],
          price: 'decimals',
          stock: 'type',
          status: 'enum',
          more: 'unknown',
          'items.0.product_id': 'range',
          'items.0.quantity': 'required',
          'items.1.quantity': 'range',
          'items.1.color': 'unknown',
        },
      );
    });

    it('is told 20 of the rules that it breaks, and no more of a name than 100 characters', async () => {
      const names = times(400, (n) => `${'<'.repeat(2_000)}${n}`);
      const wide = Object.fromEntries(names.map((name) => [name, 1]));
      const deep = names.slice(0, 20).reduce<object>((inner, name) => ({ [name]: inner, __proto: 1 }), {});
      const halves = { ['😀'.repeat(99).slice(0, -1)]: 1, [`x${'😀'.repeat(99)}`]: 1 };

      for (const body of [wide, deep, halves, { items: [wide] }]) {
        const answer = await api.post('/things', aThing(body));
        const { details, fields } = expectError(answer, 'VALIDATION_ERROR');
        expect(fields!.length).toBeLessThanOrEqual(20);
        expect(details.split('; ').length).toBeLessThanOrEqual(20);
        for (const { field } of fields!)
          expect([field, field.length <= 101 && !/\p{Surrogate}/u.test(field)]).toEqual([field, true]);
        expect(answer.text.length).toBeLessThan(MAX_ERROR);
      }
    });
  });

  describe('as an attribute that nobody knows', () => {
    const names = [
      'more',
      'Title',
      'title ',
      '',
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__defineGetter__',
      'isPrototypeOf',
      'then',
      'toJSON',
    ];

    it.each(names)('is refused: %j', async (name) => {
      const body = `{"title":"thing",${JSON.stringify(name)}:{"polluted":true}}`;

      await refused(body, { [name]: 'unknown' });
      await refused(body.replace('{"polluted":true}', 'null'), { [name]: 'unknown' });
      expectError(await api.patch('/things/1', body), 'VALIDATION_ERROR', { fields: { [name]: 'unknown' } });
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    });

    it.each(names.filter((name) => name !== ''))('is refused in an item of a list: %j', async (name) => {
      const item = `{"product_id":1,"quantity":1,${JSON.stringify(name)}:1}`;

      await refused(`{"title":"thing","items":[${item}]}`, { [`items.0.${name}`]: 'unknown' });
    });

    it.each(['id', 'created_at', 'updated_at', 'version', 'deleted_at', 'password_hash', 'username_key', 'email_key'])(
      'is refused where the database has a column %s',
      async (name) => {
        const other = await api.user();
        const before = await api.repository(User).findOneByOrFail({ id: other.id });

        const fields = { [name]: 'unknown' };
        const body = { username: 'overwritten', email: 'overwritten@example.com', [name]: other.id };
        expectError(await api.post('/users', { ...body, password: 'long enough' }), 'VALIDATION_ERROR', { fields });
        expectError(await api.as(ada).put(`/users/${ada.id}`, body), 'VALIDATION_ERROR', { fields });
        expectError(await api.as(ada).patch(`/users/${ada.id}`, { [name]: other.id }), 'VALIDATION_ERROR', { fields });

        expect(await api.repository(User).findOneByOrFail({ id: other.id })).toEqual(before);
      },
    );

    it('has no way around the validation: each body and query is a class with rules', () => {
      expect(unvalidatedInputs(api.app.nest.get(DiscoveryService, { strict: false }))).toEqual([]);
    });

    it('is validated once where it is the query of a list: its rules depend on the query alone', () => {
      const inputs = inputsOf(api.app.nest.get(DiscoveryService, { strict: false }));
      const queries = inputs.filter(({ kind }) => kind === RouteParamtypes.QUERY);

      expect(queries.length).toBeGreaterThan(5);
      expect(queries.filter(({ type }) => !isPure(type as Type<object>)).map(({ name }) => name)).toEqual([]);
    });
  });

  describe('as text', () => {
    it.each([
      ['NUL', 'a\0b'],
      ['a control character', 'a\u0001b'],
      ['a newline', 'a\nb'],
      ['a tab', 'a\tb'],
      ['DEL', 'a\u007fb'],
      ['a control character of Latin-1', 'a\u0085b'],
      ['an escape', 'a\u001b[1'],
    ])('holds no control characters: %s', async (_name, title) => {
      await refused(aThing({ title }), { title: 'characters' });
    });

    it('may hold newlines and tabs where it is long, each newline in one spelling', async () => {
      expect(await understood(aThing({ content: 'a\n\tb\r\nc' }))).toMatchObject({ content: 'a\n\tb\nc' });
      await refused(aThing({ content: 'a\0b' }), { content: 'characters' });
      await refused(aThing({ content: 'a\u001bb' }), { content: 'characters' });
      await refused(aThing({ content: 'a\rb' }), { content: 'characters' });
    });

    it.each(['\\ud800', 'a\\udc00', '\\udc00\\ud800'])('holds no half of a surrogate pair: %s', async (escape) => {
      await refused(`{"title":"${escape}"}`, { title: 'encoding' });
    });

    it('has the form that its attribute asks for, all of it and as it is, and the document says the same', async () => {
      const { pattern, minLength, maxLength } = (await api.get('//docs/json')).body.components.schemas.Thing.properties
        .country;
      const form = new RegExp(pattern as string, 'u');
      const isPromised = (text: string) => form.test(text) && text.length >= minLength && text.length <= maxLength;
      const messages = { length: 'must be 2 characters', pattern: 'must be capital letters' };

      for (const [country, rule] of [
        ['DE', undefined],
        ['De', 'pattern'],
        ['D ', 'pattern'],
        ['É!', 'pattern'],
        ['D\n', 'characters'],
        ['D', 'length'],
        [' DE', 'length'],
        ['DEU', 'length'],
        ['', 'length'],
      ] as const) {
        expect([country, isPromised(country)]).toEqual([country, rule === undefined]);
        const answer = await api.post('/things', aThing({ country }));
        if (rule === undefined) expect(answer.body.data).toEqual(aThing({ country }));
        else expectError(answer, 'VALIDATION_ERROR', { fields: { country: rule } });
        const message = messages[rule as keyof typeof messages];
        if (message) expect(answer.body.error.fields[0]).toMatchObject({ message });
      }
      expect(() => Text({ max: 2, pattern: /[a-z]/i })).toThrow('/[a-z]/i');
    });

    it('is counted in code points, after it was composed', async () => {
      expect(await understood(aThing({ title: '😀'.repeat(5) }))).toMatchObject({ title: '😀'.repeat(5) });
      await refused(aThing({ title: '😀'.repeat(6) }), { title: 'length' });
      expect(await understood(aThing({ title: 'e\u0301'.repeat(5) }))).toMatchObject({ title: 'é'.repeat(5) });
      await refused(aThing({ title: 'e\u0301'.repeat(6) }), { title: 'length' });
    });

    it('is counted after it was composed of whatever it was spelled with', async () => {
      const longest = 'ᾂ'.normalize('NFD');

      expect(await understood(aThing({ title: longest.repeat(5) }))).toMatchObject({ title: 'ᾂ'.repeat(5) });
      await refused(aThing({ title: longest.repeat(6) }), { title: 'length' });
    });

    it('has at most 30 combining marks in a row', async () => {
      expect(await understood(aThing({ content: `a${MARKS.repeat(15)}b${MARKS.repeat(7)}` }))).toBeDefined();
      await refused(aThing({ content: `a${MARKS.repeat(15)}\u0301` }), { content: 'marks' });
      await refused(aThing({ content: `${MARKS.repeat(24)}` }), { content: 'marks' });
      await refused(aThing({ contact: `a${MARKS.repeat(16)}@example.com` }), { contact: 'marks' });
      const aUser = { username: 'marks', email: 'marks@example.com', password: MARKS.repeat(16) };
      expectError(await api.post('/users', aUser), 'VALIDATION_ERROR', { fields: { password: 'marks' } });
    });

    it('is told nothing but its length when it is too long to look at', async () => {
      for (const text of [MARKS, '\0', '\ud800', ' ', '\r\n'].map((piece) => piece.repeat(20_000))) {
        await refused(
          { title: text, content: text, contact: text },
          { title: 'length', content: 'length', contact: 'length' },
        );
      }
    });

    it.each(['\ud800@example.com', 'a\udc00@example.com', 'a@\ud800.com'])(
      'holds no half of a surrogate pair where it is an e-mail address: %j',
      async (contact) => {
        await refused(JSON.stringify(aThing({ contact })), { contact: 'encoding' });
      },
    );

    it('is trimmed, of whatever is blank', async () => {
      expect(await understood(aThing({ title: ' \u00a0\u2003\ufeff\n\ta b\r\n ' }))).toMatchObject({ title: 'a b' });
    });

    it.each(['', ' ', '     ', '\t\n', '\u00a0\u2003', '\ufeff'])(
      'is not blank where something is required: %j',
      async (title) => {
        await refused(aThing({ title }), { title: 'length' });
      },
    );

    it.each([1, 0, true, false, null, [], {}, ['thing'], { length: 3 }])('is a string, not %j', async (title) => {
      await refused(aThing({ title }), { title: 'type' });
    });

    it('makes no user of blanks', async () => {
      const aUser = { username: 'blank', email: 'blank@example.com', password: 'long enough' };
      const rules = async (more: object) => (await api.post('/users', { ...aUser, ...more })).body.error.fields;

      expect(await rules({ username: ' '.repeat(10) })).toMatchObject([{ field: 'username', rule: 'length' }]);
      expect(await rules({ password: ' '.repeat(10) })).toMatchObject([{ field: 'password', rule: 'blank' }]);
      expect(await rules({ password: '\u2003'.repeat(10) })).toMatchObject([{ field: 'password', rule: 'blank' }]);
    });

    it('is not hashed when it is 90 kilobytes of password, and not echoed', async () => {
      const password = 'open sesame '.repeat(7_500);
      const answer = await api.post('/users', { username: 'long', email: 'long@example.com', password });

      expectError(answer, 'PAYLOAD_TOO_LARGE', { secret: 'sesame' });
      const shorter = password.slice(0, 16_000);
      expectError(
        await api.post('/users', { username: 'long', email: 'long@example.com', password: shorter }),
        'VALIDATION_ERROR',
        {
          fields: { password: 'length' },
          secret: 'sesame',
        },
      );
      expectError(await api.post('/auth/tokens', { username: 'ada', password: shorter }), 'VALIDATION_ERROR', {
        fields: { password: 'length' },
        secret: 'sesame',
      });
    });

    it('is taken with its blanks, in either form of Unicode, when it is a password', async () => {
      const username = 'chloe';
      const password = '  cafe\u0301 au lait  ';
      await api.post('/users', { username, email: 'chloe@example.com', password });
      const signIn = async (password: string) => (await api.post('/auth/tokens', { username, password })).status;

      expect(await signIn(password)).toBe(201);
      expect(await signIn(password.normalize('NFC'))).toBe(201);
      expect(await signIn(password.trim())).toBe(401);
    });

    it.each([
      'ada',
      'ada@',
      '@example.com',
      'a b@example.com',
      'ada@example',
      'ada@example.com\nBcc: a@b.de',
      'a@b@c.de',
      `${'a'.repeat(250)}@b.de`,
    ])('is an e-mail address, not %s', async (email) => {
      const answer = await api.post('/users', { username: 'nobody', email, password: 'long enough' });

      const error = expectError(answer, 'VALIDATION_ERROR');
      expect(error.fields!.map(({ field }) => field)).toEqual(error.fields!.map(() => 'email'));
    });
  });

  describe('as a number', () => {
    it.each([0, 0.1, 0.01, 9.95, 1e2, 1234567890.12, 9999999999.99])('may be an amount of money: %d', async (price) => {
      expect(await understood(aThing({ price }))).toMatchObject({ price });
    });

    it.each([
      ['0.001', 'decimals'],
      ['0.1000000001', 'decimals'],
      ['1e-7', 'decimals'],
      ['-0.01', 'range'],
      ['10000000000', 'range'],
      ['1e400', 'type'],
      ['"1"', 'type'],
      ['""', 'type'],
      ['null', 'type'],
      ['true', 'type'],
      ['[1]', 'type'],
    ])('may not be an amount of money: %s', async (price, rule) => {
      await refused(`{"title":"thing","price":${price}}`, { price: rule });
    });

    it.each([
      ['1.5', 'type'],
      ['"1"', 'type'],
      ['true', 'type'],
      ['null', 'type'],
      ['[]', 'type'],
      ['1e400', 'type'],
      ['-1', 'range'],
      ['2147483648', 'range'],
      ['1e300', 'range'],
    ])('may not be a whole number: %s', async (stock, rule) => {
      await refused(`{"title":"thing","stock":${stock}}`, { stock: rule });
    });

    it.each([
      ['0', 'range'],
      ['-1', 'range'],
      ['9007199254740993', 'range'],
      ['9223372036854775807', 'range'],
      ['1.5', 'type'],
      ['"1"', 'type'],
      ['false', 'type'],
    ])('may not be an id in a body: %s', async (id, rule) => {
      await refused(`{"title":"thing","parent_id":${id}}`, { parent_id: rule });
    });

    it('may be the largest id that there is', async () => {
      const parent_id = Number.MAX_SAFE_INTEGER;

      expect(await understood(aThing({ parent_id }))).toMatchObject({ parent_id });
    });
  });

  describe('as one or some of a list', () => {
    it.each(['GONE', 'new', '', 'toString', '__proto__', null, 0, ['NEW'], {}])(
      'is none of the names: %j',
      async (status) => {
        await refused(aThing({ status }), { status: 'enum' });
      },
    );

    it.each([
      ['RED', 'type'],
      [{ 0: 'RED' }, 'type'],
      [null, 'type'],
      [[], 'length'],
      [['GREEN'], 'enum'],
      [['RED', null], 'enum'],
      [['RED', 'RED'], 'unique'],
    ])('is no list of different names: %j', async (tags, rule) => {
      await refused(aThing({ tags }), { tags: rule });
    });

    it.each([
      [[], 'length'],
      [times(4, () => ({ product_id: 1, quantity: 1 })), 'length'],
      ['[]', 'type'],
      [null, 'type'],
      [[1], 'type'],
      [[null], 'type'],
      [[[]], 'type'],
      [{ product_id: 1, quantity: 1 }, 'type'],
    ])('is no list of items: %j', async (items, rule) => {
      await refused(aThing({ items }), { items: rule });
    });

    it('is read as it was sent', async () => {
      const thing = aThing({ status: 'OLD', tags: ['BLUE', 'RED'], items: [{ product_id: 7, quantity: 2 }] });

      expect(await understood(thing)).toEqual(thing);
    });
  });

  describe('as null', () => {
    it.each(['title', 'content', 'price', 'stock', 'status', 'tags', 'items'])(
      'is refused for %s, in a PATCH too',
      async (name) => {
        const rule = name === 'status' ? 'enum' : 'type';

        await refused(aThing({ [name]: null }), { [name]: rule });
        expectError(await api.patch('/things/1', { [name]: null }), 'VALIDATION_ERROR', { fields: { [name]: rule } });
      },
    );

    it.each(['username', 'email', 'password', 'status', 'roles'])('is refused for %s of a user', async (name) => {
      const answer = await api.as(ada).patch(`/users/${ada.id}`, { [name]: null });

      expectError(answer, 'VALIDATION_ERROR', { fields: { [name]: name === 'status' ? 'enum' : 'type' } });
    });

    it('is a value where the attribute may be null, and left out is left out', async () => {
      const changes = async (body: object) => expectSuccess(await api.patch('/things/1', body));

      expect(await changes({ parent_id: null })).toEqual({ id: 1, parent_id: null });
      expect(await changes({})).toEqual({ id: 1 });
    });
  });

  describe('as an id in the path', () => {
    it.each([
      ...[
        '1e3',
        '0x10',
        '+1',
        '01',
        '1.0',
        '%201',
        '1%20',
        '0',
        '-1',
        '-0',
        '00',
        '1,0',
        '1_0',
        '0b1',
        '0o7',
        '1n',
        'NaN',
        'Infinity',
      ],
      ...['9223372036854775808', '99999999999999999999', '%D9%A1', '%EF%BC%91', '1%00', '1%2F2', 'null', "1'--", '1;2'],
    ])('is a 400: %s', async (id) => {
      const answer = await api.as(ada).get(`/users/${id}`);

      expectError(answer, 'VALIDATION_ERROR', { fields: { id: 'id' } });
    });

    it.each(['2147483648', '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807'])(
      'is a 404, for there is no such user: %s',
      async (id) => {
        expectError(await api.as(ada).get(`/users/${id}`), 'USER_NOT_FOUND');
      },
    );

    it('is never rounded to the id of another row', async () => {
      await api.user({ id: Number.MAX_SAFE_INTEGER });

      expect(await api.as(ada).get('/users/9007199254740991')).toMatchObject({ status: 200 });
      expectError(await api.as(ada).get('/users/9007199254740992'), 'USER_NOT_FOUND');
      expectError(await api.as(ada).get('/users/9007199254740993'), 'USER_NOT_FOUND');
    });

    it.each(['put', 'patch', 'delete'] as const)('is checked for %s as well', async (method) => {
      const body = method === 'delete' ? undefined : { username: 'nobody', email: 'nobody@example.com' };

      expectError(await api.as(ada)[method]('/users/1e3', body), 'VALIDATION_ERROR', { fields: { id: 'id' } });
    });
  });

  describe('as a query', () => {
    const get = (path: string) => sendRaw(api.app.port, `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\n\r\n`);

    it.each([
      ['/things?search=a&search=a', { search: 'once' }],
      ['/things?search=a&%73earch=b&search=c', { search: 'once' }],
      ['/things?a=1&b=1&b=2&a=2', { a: 'once', b: 'once' }],
      [`/things?${'a&'.repeat(101)}`, { query: 'size' }],
      ['/things?more=1', { more: 'unknown' }],
      ['/things?Search=a', { Search: 'unknown' }],
      ['/things?search[]=a', { 'search[]': 'unknown' }],
      ['/things?search[a]=a', { 'search[a]': 'unknown' }],
      ['/things?=a', { '': 'unknown' }],
      ['/things?pattern=a', { pattern: 'unknown' }],
      ['/things?__proto__=a', { __proto__: 'unknown' }],
      ['/things?__proto__[a]=a', { '__proto__[a]': 'unknown' }],
      ['/things?constructor=a', { constructor: 'unknown' }],
      ['/things?toString=a', { toString: 'unknown' }],
      ['/things?hasOwnProperty=a', { hasOwnProperty: 'unknown' }],
      ['/things?search=%', { search: 'encoding' }],
      ['/things?search=%ff', { search: 'encoding' }],
      ['/things?search=%c0%af', { search: 'encoding' }],
      ['/things?search=%ed%a0%80', { search: 'encoding' }],
      ['/things?%zz=1', { query: 'encoding' }],
      ['/things?search=a%00', { search: 'characters' }],
      ['/things?search=a%0Ab', { search: 'characters' }],
      ['/things?search', { search: 'length' }],
      ['/things?search=', { search: 'length' }],
      ['/things?search=++', { search: 'length' }],
      ['/things?search=abcdef', { search: 'length' }],
      ['/things/1?more=1', { more: 'unknown' }],
      ['/things/1?__proto__=1', { __proto__: 'unknown' }],
      ['/things/1?title=1&title=1', { title: 'once' }],
      ['/things/1?fields=more', { fields: 'enum' }],
      ['/things/1?fields=', { fields: 'enum' }],
      ['/things/1?fields=title%00', { fields: 'enum' }],
      ['/public?a=1', { a: 'unknown' }],
    ])('is a 400: %s', async (path, fields) => {
      // A literal's __proto__ is its prototype, not a field.
      const expected = path.includes('__proto__=') ? { ['__proto__']: 'unknown' } : fields;

      expectError(await get(path), 'VALIDATION_ERROR', { fields: expected });
    });

    it('is read like a form: + and %20 are a blank, & alone is nothing', async () => {
      for (const path of ['/things?search=a+b', '/things?search=a%20b', '/things?&search=a%20b&&']) {
        expect(expectSuccess(await get(path))).toEqual({ search: 'a b' });
      }
      expect(expectSuccess(await get('/things?search=a%2Bb'))).toEqual({ search: 'a+b' });
      expect(expectSuccess(await get('/things?search=%F0%9F%98%80'))).toEqual({ search: '😀' });
      expect(expectSuccess(await get('/things?'))).toEqual({});
    });

    it('is refused where the route takes none', async () => {
      expectError(await api.post('/things?more=1', aThing()), 'VALIDATION_ERROR', { fields: { more: 'unknown' } });
      expectError(await api.post('/things?fields=title', aThing()), 'VALIDATION_ERROR', {
        fields: { fields: 'unknown' },
      });
      expectError(await api.as(ada).delete(`/users/${ada.id}?force=1`), 'VALIDATION_ERROR', {
        fields: { force: 'unknown' },
      });
      expect(await api.as(ada).get('/users/profile')).toMatchObject({ status: 200 });
    });

    it.each([
      ['fields', '/things/1?fields=title', '+', 3_000, 'enum'],
      ['fields', '/products?fields=name', '+', 3_000, 'enum'],
      ['search', '/products?search=a', '+', 3_000, 'length'],
      ['cursor', '//api/v2/products?cursor=', 'a', 4_097, 'cursor'],
      ['search', '/products?search=a', '%CC%96%CC%81', 16, 'marks'],
    ])('is not looked at when it is too long: %s of %s', async (name, path, more, count, rule) => {
      expectError(await api.get(path + more.repeat(count)), 'VALIDATION_ERROR', { fields: { [name]: rule } });
    });

    it('is told 20 of its unknown, repeated or malformed parameters, and no more of a name than 100 characters', async () => {
      for (const query of [
        times(100, (n) => `${'%3C'.repeat(40)}${n}=1`),
        times(50, (n) => `${'<'.repeat(120)}${n}=1&${'<'.repeat(120)}${n}=1`),
        times(100, (n) => `${'a'.repeat(110)}${n}=%ff`),
      ]) {
        const answer = await get(`/things/1?${query.join('&')}`);
        const { fields } = expectError(answer, 'VALIDATION_ERROR');
        expect(fields!).toHaveLength(20);
        for (const { field } of fields!) expect(field.length).toBeLessThanOrEqual(101);
        expect(answer.text.length).toBeLessThan(MAX_ERROR);
      }
    });

    it('names the attributes to read of a single resource', async () => {
      expect(expectSuccess(await get('/things/1?fields=title'))).toEqual({ title: 'a thing' });
      expect(expectSuccess(await get('/things/1?fields=%20title%20,title'))).toEqual({ title: 'a thing' });
    });
  });
});

const INPUTS: number[] = [RouteParamtypes.BODY, RouteParamtypes.QUERY];

type Constructor = new (...args: unknown[]) => unknown;

interface Input {
  name: string;
  kind: RouteParamtypes;
  type: Constructor;
  /** Of one value of it. */
  data?: string;
}

/** Bodies and queries that come as a map, or as one value of it, which the validation lets pass. */
function unvalidatedInputs(discovery: DiscoveryService): string[] {
  return inputsOf(discovery)
    .filter(({ type, data }) => data !== undefined || rulesOf(type) === 0)
    .map(({ name, kind }) => `${name}: ${RouteParamtypes[kind]}`);
}

function inputsOf(discovery: DiscoveryService): Input[] {
  return discovery.getControllers().flatMap(({ metatype }) => {
    const controller = metatype as Constructor;
    return new MetadataScanner().getAllMethodNames(controller.prototype as object).flatMap((method) => {
      const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
        string,
        { data?: string }
      >;
      const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) ??
        []) as Constructor[];
      return Object.entries(parameters)
        .map(([key, { data }]) => ({ kind: Number(key.split(':')[0]), type: types[Number(key.split(':')[1])], data }))
        .filter(({ kind }) => INPUTS.includes(kind))
        .map((input) => ({ name: `${controller.name}.${method}`, ...input }));
    });
  });
}

function rulesOf(type: Constructor): number {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false).length;
}
