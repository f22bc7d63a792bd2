import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get, type RequestOptions } from 'node:https';
import { connect as connectInClear } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';
import { expectError, sendRaw, waitFor } from '../../src/platform/testing';
import { type ServiceProcess, useServices } from '../support/service-process';
import { useTestApi } from '../support/test-api';

jest.setTimeout(60_000);

interface SecureAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Writes a certificate for this name into the files. */
async function writeCertificate(files: { cert: string; key: string }, name: string): Promise<void> {
  const pems = await generate([{ name: 'commonName', value: name }], { keyType: 'ec' });
  writeFileSync(files.key, pems.private);
  writeFileSync(files.cert, pems.cert);
}

function getSecurely(port: number, path: string, options: RequestOptions = {}): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, ...options }, (answer) => {
      const chunks: string[] = [];
      answer.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text: chunks.join('') }));
    }).on('error', reject);
  });
}

/** The name that the certificate of a new connection is for. */
function certifiedName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      resolve(subject.CN as string);
    });
    socket.on('error', reject);
  });
}

describe('HTTPS', () => {
  const api = useTestApi();
  const services = useServices({ keep: true });
  const files = { cert: '', key: '' };
  let service: ServiceProcess;

  beforeAll(async () => {
    const directory = services.newDirectory();
    Object.assign(files, { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') });
    await writeCertificate(files, 'first.example');
    service = await services.start({
      NODE_ENV: 'production',
      DATABASE_URL: api.app.databaseUrl,
      JWT_SECRET: 'a secret of this test, long enough to sign with',
      TLS_CERT: files.cert,
      TLS_KEY: files.key,
    });
  });

  it('closes a connection whose client does not agree on TLS', async () => {
    const silent = connectInClear(service.port, '127.0.0.1').resume();
    await once(silent, 'close');
  });

  it('is served by the process itself, with HSTS', async () => {
    const { status, headers } = await getSecurely(service.port, '/api/v1/products');

    expect(status).toBe(200);
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    expect(service.stdout).toContain('https://localhost:');
  });

  it('is all that the port speaks', async () => {
    const request = 'GET /api/v1/products HTTP/1.1\r\nHost: x\r\n\r\n';
    await expect(sendRaw(service.port, request)).rejects.toThrow('closed');
    expect((await getSecurely(service.port, '/health/live')).status).toBe(200);
  });

  it('takes a renewed certificate on SIGHUP, and keeps the old one when the new one is no good', async () => {
    expect(await certifiedName(service.port)).toBe('first.example');
    await writeCertificate(files, 'second.example');
    expect(await certifiedName(service.port)).toBe('first.example');
    service.signal('SIGHUP');
    await waitFor(async () => (await certifiedName(service.port)) === 'second.example');

    writeFileSync(files.cert, 'nonsense');
    service.signal('SIGHUP');
    await waitFor(() => service.stdout.includes('The new certificate is not used'));
    expect(await certifiedName(service.port)).toBe('second.example');
    expect(service.running).toBe(true);
  });

  it('keeps the service from starting with a certificate that can’t be read', async () => {
    const broken = services.spawn({ DATABASE_URL: api.app.databaseUrl, TLS_CERT: files.cert, TLS_KEY: '/nowhere' });

    expect(await broken.ended).toBe(1);
    expect(broken.stderr).toMatch(/^TLS_CERT and TLS_KEY can't be used: /);
  });

  it('does not keep SIGTERM from ending the service', async () => {
    expect(await service.stop()).toBe(0);
  });
});

describe('Behind a proxy that ends TLS, in production', () => {
  const api = useTestApi({
    settings: {
      NODE_ENV: 'production',
      TRUST_PROXY: '1',
      JWT_SECRET: 'a secret of this test, long enough to sign with',
    },
  });
  const secure = { 'X-Forwarded-Proto': 'https' };

  it('plain HTTP is refused, whatever is asked', async () => {
    for (const path of ['/products', '/public', '/nothing', '//docs', '//docs/json', '//.well-known/jwks.json']) {
      const answer = await api.get(path);
      expectError(answer, 'FORBIDDEN');
      expect(answer.headers.get('strict-transport-security')).toBeNull();
    }
    expectError(await api.post('/auth/tokens', { username: 'x', password: 'y' }), 'FORBIDDEN');
    expectError(await api.get('/products', { 'X-Forwarded-Proto': 'http' }), 'FORBIDDEN');
    expectError(await api.get('/products', { Forwarded: 'proto=https' }), 'FORBIDDEN');
  });

  it('what the proxy got by HTTPS is answered, with HSTS', async () => {
    const answer = await api.get('/products', secure);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
  });

  it('health may be asked by the platform, which comes past the proxy', async () => {
    expect((await api.get('//health/live')).status).toBe(200);
    expect((await api.get('//health/ready')).status).toBe(200);
  });
});
