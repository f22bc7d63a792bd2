import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { query, waitFor } from '../../src/platform/testing';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver';
import { describeWithS3, S3Server } from '../support/s3-server';
import { type ServiceProcess, useServices } from '../support/service-process';
import { PLACES } from '../support/tested-places';
import { useTestApi } from '../support/test-api';

jest.setTimeout(240_000);

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const TRACEPARENT = `00-${CALLER.trace}-${CALLER.span}-01`;
const redis = process.env.REDIS_URL;

const requestOf = (spans: ReceivedSpan[]) => spans.find(({ kind }) => kind === 2)!;
const linesOf = (service: ServiceProcess) =>
  service.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);

describe('Traces', () => {
  const api = useTestApi();
  const services = useServices();
  let receiver: OtlpReceiver;

  beforeEach(async () => {
    receiver = await OtlpReceiver.start();
  });
  afterEach(() => receiver.stop());

  const start = (settings: Record<string, string> = {}) =>
    services.start({
      NODE_ENV: 'test',
      DATABASE_URL: api.app.databaseUrl,
      DATA_DIR: process.env.TEST_DIRECTORY!,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      ...settings,
    });
  /** The trace of the last request in the log. */
  const lastTrace = async (service: ServiceProcess): Promise<string> => {
    await waitFor(() => linesOf(service).some(({ msg }) => msg === 'request'));
    return String(linesOf(service).findLast(({ msg }) => msg === 'request')!.trace_id);
  };

  it('go on with the trace of the caller, with a span of the request and of each statement', async () => {
    const service = await start({ OTEL_SERVICE_NAME: 'shop' });
    const user = await api.user();
    const headers = { Authorization: `Bearer ${user.token}`, traceparent: TRACEPARENT };
    expect((await service.get(`/api/v1/users/${user.id}`, headers)).status).toBe(200);

    const spans = await receiver.complete(CALLER.trace);
    const request = requestOf(spans);
    expect(request).toMatchObject({ name: 'GET /api/users/:id', parent: CALLER.span, status: 0 });
    expect(request.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.route': '/api/users/:id',
      'http.response.status_code': 200,
      'api.version': 1,
    });
    expect(request.resource).toMatchObject({ 'service.name': 'shop' });
    const statements = spans.filter(({ name }) => name.startsWith('pg.query'));
    expect(statements.length).toBeGreaterThanOrEqual(1);
    expect(new Set(statements.map(({ parent }) => parent))).toEqual(new Set([request.id]));
    expect(JSON.stringify(statements)).not.toContain(user.email);
    expect(await lastTrace(service)).toBe(CALLER.trace);
  });

  it('have the statements of a transaction, and their id in each line of the log', async () => {
    const service = await start();
    const body = { username: 'traced', email: 'traced@example.com', password: 'a password of a test' };
    const answer = await service.send('POST', '/users', body, { 'Idempotency-Key': 'of a trace' });
    expect(answer.status).toBe(201);

    const trace = await lastTrace(service);
    const spans = await receiver.complete(trace);
    const texts = spans.flatMap(({ attributes }) => attributes['db.query.text'] ?? attributes['db.statement'] ?? []);
    expect(requestOf(spans).name).toBe('POST /api/users');
    expect(texts.some((text) => String(text).startsWith('INSERT INTO idempotency_keys'))).toBe(true);
    expect(JSON.stringify(spans)).not.toMatch(/traced@example|a password/);
    const event = linesOf(service).find((line) => line.event === 'user_created');
    expect(event?.trace_id).toBe(trace);
  });

  it('mark a request that fails, whose error has their id in the log', async () => {
    const service = await start();
    await query(api.app.databaseUrl, 'ALTER TABLE products RENAME TO products_elsewhere');
    const answer = await service.get('/api/v1/products/1');
    await query(api.app.databaseUrl, 'ALTER TABLE products_elsewhere RENAME TO products');
    expect(answer.status).toBe(500);

    const trace = await lastTrace(service);
    expect(requestOf(await receiver.complete(trace))).toMatchObject({ status: 2, attributes: { 'error.type': '500' } });
    expect(linesOf(service).find(({ err }) => err)?.trace_id).toBe(trace);
  });

  it('are passed on to other services', async () => {
    const asked: IncomingHttpHeaders[] = [];
    const provider = createServer((request, response) => {
      asked.push(request.headers);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const service = await start({ OIDC_ISSUER: issuer, OIDC_AUDIENCE: 'shop' });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: issuer, aud: 'shop', sub: '1', iat: Date.now() / 1_000, exp: Date.now() / 1_000 + 60 };
    const token = `${part({ alg: 'RS256', kid: '1' })}.${part(claims)}.${'x'.repeat(342)}`;
    await service.get('/api/v1/users/profile', { Authorization: `Bearer ${token}`, traceparent: TRACEPARENT });
    provider.close();

    expect(asked.length).toBeGreaterThan(0);
    expect(asked[0].traceparent).toMatch(new RegExp(`^00-${CALLER.trace}-(?!${CALLER.span})\\w{16}-01$`));
  });

  (redis ? it : it.skip)('have the commands to Redis, without their values', async () => {
    const service = await start({ REDIS_URL: redis! });
    const commands = () => receiver.spans.filter(({ attributes }) => attributes['db.system.name'] === 'redis');
    // Until Redis is connected, the service counts by itself.
    await waitFor(async () => {
      await service.get('/api/v1/public');
      return commands().length > 0;
    });

    const [command] = commands();
    const request = (await receiver.complete(command.trace)).find(({ kind }) => kind === 2)!;
    expect(request.name).toBe('GET /api/public');
    expect(command.parent).toBe(request.id);
    expect(JSON.stringify(command.attributes)).not.toContain('resource-api:');
  });

  describeWithS3('of uploads', () => {
    it('have the calls of S3', async () => {
      const s3 = await S3Server.start();
      await s3.createBucket('traced');
      const service = await start({ ...s3.settings('traced'), MIN_FREE_DISK: '0' });
      const { token } = await api.user();
      const tus = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '5' };
      const answer = await fetch(`${service.url}/api/v1/uploads`, {
        method: 'POST',
        headers: { ...tus, Authorization: `Bearer ${token}`, Connection: 'close' },
      });
      expect(answer.status).toBe(201);
      const spans = await receiver.complete(await lastTrace(service));
      await s3.stop();

      const calls = spans.filter(({ attributes }) => attributes['rpc.service'] === 'S3');
      expect(calls.map(({ attributes }) => attributes['rpc.method'])).toContain('CreateMultipartUpload');
    });
  });

  it('have an id in the log where they are not sampled, and are not sent', async () => {
    const service = await start({ OTEL_TRACES_SAMPLER: 'always_off' });
    await service.get('/api/v1/public');

    expect(await lastTrace(service)).toMatch(/^[0-9a-f]{32}$/);
    expect(await service.stop()).toBe(0);
    expect(receiver.spans).toEqual([]);
  });

  it('are sent before the end, and their own sending is no span', async () => {
    const service = await start({ OTEL_BSP_SCHEDULE_DELAY: '60000' });
    await service.get('/api/v1/public');
    expect(await service.stop()).toBe(0);

    expect(receiver.spans.map(({ kind }) => kind)).toContain(2);
    expect(
      receiver.spans.filter(({ attributes }) => String(attributes['url.full'] ?? '').includes('/v1/traces')),
    ).toEqual([]);
  });

  it('disturb nobody while the receiver is away', async () => {
    const service = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    });

    expect((await service.get('/api/v1/public')).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  it('are not even loaded without an endpoint, nor are metrics', () => {
    const programs = join(dirname(PLACES.program), 'platform/programs.js');
    const script = `require('./${programs}'); console.log(JSON.stringify(Object.keys(require.cache)))`;
    const { PATH } = process.env;
    const loaded = JSON.parse(
      execFileSync(process.execPath, ['-e', script], { env: { PATH }, encoding: 'utf8' }),
    ) as string[];

    expect(loaded.length).toBeGreaterThan(100);
    expect(loaded.filter((path) => /node_modules\/(?:@opentelemetry|prom-client)\//.test(path))).toEqual([]);
  });
});
