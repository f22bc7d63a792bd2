import { deflateSync, gzipSync } from 'node:zlib';
import { expectError, sendRaw, times } from '../../src/platform/testing';
import { SMALL } from '../support/modules/things';
import { aThing, useThings } from '../support/use-things';

/** Bytes of the longest answer to a request that is all wrong. */
const MAX_ERROR = 65_536;

describe('what comes in', () => {
  const { api, understood, refused } = useThings();

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
      'application/xhtml+xml',
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
});
