import { type INestApplication } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import express, { type Request } from 'express';
import { expectError, expectSuccess, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { BodiesModule, FORM, asForm, sign, thing } from '../support/modules/bodies';

/** What teams put before the service's own reading of bodies, in main.ts. */
const parsers: Record<string, (app: INestApplication) => void> = {
  'express.json()': (app) => void app.use(express.json()),
  'express.json({ verify })': (app) =>
    void app.use(
      express.json({
        verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }),
      }),
    ),
  'express.json() before /api': (app) => void app.use('/api', express.json()),
  'app.useBodyParser()': (app) => void (app as NestExpressApplication).useBodyParser('json', { limit: '10mb' }),
  'a parser that reads all that comes': (app) =>
    void app.use((request: Request, _response: unknown, next: () => void) => {
      void request.toArray().then((chunks: Buffer[]) => {
        if (chunks.length > 0) request.body = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
        next();
      });
    }),
};

describe.each(Object.entries(parsers))('Behind %s', (name, prepare) => {
  const api = useTestApi({ imports: [BodiesModule], prepare });

  it('bodies are validated as ever', async () => {
    expect(expectSuccess(await api.post('/bodies/things', thing), 201, 'Created')).toEqual(thing);
    expect(expectSuccess(await api.post('/bodies/lists', [thing]), 201, 'Created')).toMatchObject({ things: [thing] });
    expectError(await api.post('/bodies/things', { title: 1 }), 'VALIDATION_ERROR', {
      fields: { title: ['length', 'type'], count: 'type' },
    });
    expectError(await api.post('/bodies/things', [thing]), 'VALIDATION_ERROR', { fields: { body: 'type' } });
    expectError(await api.post('/bodies/things', {}), 'VALIDATION_ERROR');
    if (!name.includes('all')) {
      const { fields } = expectError(await api.post('/bodies/things', '{'), 'VALIDATION_ERROR');
      expect(fields).toEqual([{ field: 'body', rule: 'json', message: 'must be valid JSON' }]);
    }
    if (!name.includes('all')) expectError(await api.post('/bodies/things'), 'VALIDATION_ERROR');
  });

  it('a list of inputs is created whole, or each for itself', async () => {
    const admin = api.as(await api.admin());
    const inputs = times(200, (number) => ({ name: `Parsed ${number}`, price: 1 }));
    const lenient = await admin.post('/products', [inputs[0], {}], { Prefer: 'handling=lenient' });

    expect((await admin.post('/products', inputs)).body.data).toHaveLength(inputs.length);
    expect(lenient.body.data.map(({ status }: { status: number }) => status)).toEqual([201, 400]);
    expectError(await admin.post('/products', [inputs[0], {}]), 'VALIDATION_ERROR');
  });

  it('bodies are held to the same measure', async () => {
    const wide = times(501, () => 1);
    const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`) as unknown;

    expectError(await api.post('/bodies/any', wide), 'VALIDATION_ERROR', { fields: { body: 'size' } });
    expectError(await api.post('/bodies/any', deep), 'VALIDATION_ERROR', { fields: { body: 'depth' } });
    expectError(await api.post('/bodies/things', '{"title":"thing","count":1,"__proto__":{}}'), 'VALIDATION_ERROR', {
      fields: { ['__proto__']: 'unknown' },
    });
  });
});

describe('Behind express.json({ limit })', () => {
  const api = useTestApi({ imports: [BodiesModule], prepare: (app) => void app.use(express.json({ limit: 10 })) });

  it('a body that is larger is 413', async () => {
    expectError(await api.post('/bodies/things', thing), 'PAYLOAD_TOO_LARGE');
  });
});

describe('Behind parsers of other media types', () => {
  const api = useTestApi({
    imports: [BodiesModule],
    prepare: (app) => {
      app.use('/api/bodies/things', express.urlencoded({ extended: true }));
      app.use('/api/bodies/any', express.raw({ type: 'application/octet-stream' }), express.text());
      // It leaves nothing of what it has read.
      app.use('/api/bodies/lists', (request: Request, _response: unknown, next: () => void) => {
        void request.toArray().then(() => next());
      });
    },
  });

  it('@Body() is what they have made', async () => {
    const form = { 'Content-Type': FORM };
    expect(expectSuccess(await api.post('/bodies/things', asForm(thing), form), 201, 'Created')).toEqual(thing);
    expectError(await api.post('/bodies/things', 'title=t&title=u', form), 'VALIDATION_ERROR');
    const text = await api.post('/bodies/any', 'a text', { 'Content-Type': 'text/plain' });
    expect(expectSuccess(text, 201, 'Created')).toEqual({ body: 'a text' });
    const bytes = await api.post('/bodies/any', Buffer.of(1, 2), { 'Content-Type': 'application/octet-stream' });
    expect(expectSuccess(bytes, 201, 'Created')).toEqual({ body: { type: 'Buffer', data: [1, 2] } });
  });

  it('a body of which nothing is left is an error of the application, which says so in the log', async () => {
    expectError(await api.post('/bodies/lists', [thing]), 'INTERNAL_ERROR');

    expect(JSON.stringify(api.app.log)).toContain('was read before the service could');
  });
});

describe.each([{ bodyParser: true }, { bodyParser: true, rawBody: true }, { bodyParser: false, rawBody: true }])(
  'An application made with %j',
  (options) => {
    const api = useTestApi({ imports: [BodiesModule], options });

    it('reads bodies as ever', async () => {
      const signature = { 'X-Signature': sign(JSON.stringify(thing)) };

      expect(expectSuccess(await api.post('/bodies/signed', thing, signature), 201, 'Created')).toEqual(thing);
      expectError(await api.post('/bodies/things', '{'), 'VALIDATION_ERROR', { fields: { body: 'json' } });
      expectError(
        await api.post(
          '/bodies/any',
          times(501, () => 1),
        ),
        'VALIDATION_ERROR',
        { fields: { body: 'size' } },
      );
      expectError(await api.post('/bodies/admin-files', '{'), 'UNAUTHORIZED');
    });
  },
);
