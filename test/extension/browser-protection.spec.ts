import { Controller, Get, Header, Module, Post, type CsrfProtectionOptions, RequestMethod } from '@nestjs/common';
import { HttpCode, type INestApplication, InternalServerErrorException } from '@nestjs/common';
import helmet from 'helmet';
import { Public } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import type { AppOptions } from '../support/test-app';

const OWN_POLICY = "default-src 'self'; img-src *";

@Controller('hooks')
@Public()
class HooksController {
  @Post(['payments', 'orders', 'others'])
  @HttpCode(200)
  take(): object {
    return { taken: true };
  }

  @Get('page')
  @Header('Content-Security-Policy', OWN_POLICY)
  page(): object {
    return {};
  }

  @Get('broken')
  @Header('Content-Security-Policy', OWN_POLICY)
  broken(): never {
    throw new InternalServerErrorException();
  }
}

@Module({ controllers: [HooksController] })
class HooksModule {}

const ELSEWHERE = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.example' };
const SECOND = { Accept: 'application/vnd.api+json;version=2' };
const CSRF: CsrfProtectionOptions = {
  trustedOrigins: ['https://admin.example.com'],
  exclude: ['hooks/payments', { path: 'hooks/orders', method: RequestMethod.POST, version: '2' }],
};
const protect = (app: INestApplication) => void app.enableCsrfProtection(CSRF);

describe.each<[when: string, options: AppOptions]>([
  ['before', { beforehand: protect }],
  ['after', { prepare: protect }],
])('app.enableCsrfProtection() %s configureApp()', (_when, options) => {
  const api = useTestApi({ imports: [HooksModule], ...options });
  const statusOf = async (path: string, headers = {}) =>
    (await api.post(path, {}, { ...ELSEWHERE, ...headers })).status;

  it('refuses what pages of other sites send', async () => {
    for (const path of ['/hooks/others', '//api/hooks/others', '//api/v2/hooks/others', '/nowhere']) {
      expectError(await api.post(path, {}, ELSEWHERE), 'FORBIDDEN');
    }
    expect((await api.get('/hooks/page', ELSEWHERE)).status).toBe(200);
    expect((await api.post('/hooks/others', {})).status).toBe(200);
    expect(await statusOf('/hooks/others', { Origin: 'https://admin.example.com' })).toBe(200);
  });

  it('excludes a path in every version, by path and by Accept', async () => {
    for (const path of ['/hooks/payments', '//api/hooks/payments', '//api/v2/hooks/payments']) {
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    }
    expect(await statusOf('//api/hooks/payments', SECOND)).toBe(200);
  });

  it('excludes a path of one version in that version only', async () => {
    expect(await statusOf('//api/v2/hooks/orders')).toBe(200);
    expect(await statusOf('//api/hooks/orders', SECOND)).toBe(200);
    expect(await statusOf('/hooks/orders')).toBe(403);
    expect(await statusOf('//api/hooks/orders')).toBe(403);
  });
});

const POLICY = { useDefaults: false, directives: { defaultSrc: ["'self'"] } };

describe.each<[name: string, prepare: (app: INestApplication) => unknown]>([
  ['app.useSecurityHeaders()', (app) => app.useSecurityHeaders({ contentSecurityPolicy: POLICY })],
  ['app.use(helmet())', (app) => app.use(helmet({ contentSecurityPolicy: POLICY }))],
])('The policy of %s', (_name, prepare) => {
  const api = useTestApi({ imports: [HooksModule], prepare: (app) => void prepare(app) });
  const policyOf = async (path: string) => {
    const { status, headers } = await api.get(path);
    return [status, headers.get('content-security-policy')];
  };

  it('is that of answers and of errors', async () => {
    expect(await policyOf('/products')).toEqual([200, "default-src 'self'"]);
    expect(await policyOf('/products/999999')).toEqual([404, "default-src 'self'"]);
    expect(await policyOf('/orders')).toEqual([401, "default-src 'self'"]);
    expect(await policyOf('/nowhere')).toEqual([404, "default-src 'self'"]);
  });

  it('gives way to that of a handler, but for errors of the handler', async () => {
    expect(await policyOf('/hooks/page')).toEqual([200, OWN_POLICY]);
    expect(await policyOf('/hooks/broken')).toEqual([500, "default-src 'self'"]);
  });
});

describe('Without a policy of middleware', () => {
  const api = useTestApi({ imports: [HooksModule] });

  it('an error of a handler with a policy of its own has that of the service', async () => {
    const { status, headers } = await api.get('/hooks/broken');

    expect([status, headers.get('content-security-policy')]).toEqual([
      500,
      expect.stringMatching(/^default-src 'none'/),
    ]);
  });
});
