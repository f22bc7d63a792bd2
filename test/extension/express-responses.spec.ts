import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, Header, type INestApplication, Module, Render } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { Public } from '../../src/platform';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';
import { ValuesModule } from '../support/modules/returned-values';

describe('Middleware that wraps res.json() or res.send()', () => {
  const sent: [kind: string, body: unknown][] = [];
  const wrap = (_request: Request, response: Response, next: NextFunction) => {
    const [json, send] = [response.json.bind(response), response.send.bind(response)];
    response.json = (body: { data?: { a?: number } }) => {
      sent.push(['json', body]);
      return json(body.data?.a ? { ...body, data: { a: body.data.a + 1 } } : body);
    };
    response.send = (body: unknown) => {
      sent.push(['send', body]);
      return send(body);
    };
    next();
  };
  const api = useTestApi({ imports: [ValuesModule], prepare: (app: INestApplication) => void app.use(wrap) });

  beforeEach(() => sent.splice(0));

  it('is called for what handlers return, and may change it', async () => {
    const answer = await api.get('/values/passed-through', { 'Accept-Encoding': 'gzip' });

    expect(answer.body).toEqual({
      code: 203,
      message: expect.any(String),
      data: { a: 2 },
      timestamp: expect.any(Number),
    });
    expect(sent[0]).toEqual(['json', { ...answer.body, data: { a: 1 } }]);
    expect(sent[1][0]).toBe('send');
    expect(answer.headers.get('content-length')).toBe(String(answer.text.length));
  });

  it('is called for lists, items and texts of the service, which keep their headers', async () => {
    const admin = api.as(await api.admin());
    const created = await admin.post('/products', { name: '<b>', price: 1 }, { 'Idempotency-Key': 'a' });
    const again = await admin.post('/products', { name: '<b>', price: 1 }, { 'Idempotency-Key': 'a' });
    const list = await api.get('/products?size=1');

    expect([created.status, created.headers.get('etag'), created.headers.get('location')]).toEqual([
      201,
      '"1"',
      `/api/v1/products/${created.body.data.id}`,
    ]);
    expect(created.text).toContain('\\u003cb\\u003e');
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([created.body, 'true']);
    expect(list.headers.get('link')).toContain('rel="first"');
    expect(sent.filter(([kind]) => kind === 'json').map(([, body]) => body)).toEqual(
      [created, again, list].map(({ body }) => body),
    );
    await api.get('/values/text');
    expect(sent.at(-1)).toEqual(['send', '<b>text</b>']);
  });

  it('is called for errors that are thrown', async () => {
    const { body } = await api.get('/products/999');

    expect(sent[0]).toEqual(['json', body]);
  });
});

describe('A view', () => {
  let views: string;
  @Controller('pages')
  @Public()
  class PagesController {
    @Get()
    @Render('index')
    @Header('Content-Security-Policy', "default-src 'none'; style-src 'self'")
    index(): object {
      return { name: 'Ada' };
    }
  }
  @Module({ controllers: [PagesController] })
  class PagesModule {}

  beforeAll(async () => {
    views = await mkdtemp(join(tmpdir(), 'views-'));
    await writeFile(join(views, 'index.page'), 'Hello {name}');
  });
  afterAll(() => rm(views, { recursive: true }));

  it('is rendered by the engine that the application sets, with the policy of its route', async () => {
    const prepare = (app: INestApplication) => {
      const express = app as NestExpressApplication;
      express.engine(
        'page',
        (_path: string, { name }: { name: string }, done: (error: unknown, page: string) => void) =>
          done(null, `<p>Hello ${name}</p>`),
      );
      express.setBaseViewsDir(views);
      express.setViewEngine('page');
    };
    const app = await startApp({ imports: [PagesModule], prepare });
    const response = await fetch(`http://127.0.0.1:${app.port}/api/v1/pages`);
    const page = await response.text();
    await app.stop();

    expect([page, response.headers.get('content-type')]).toEqual(['<p>Hello Ada</p>', 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'self'");
  });
});
