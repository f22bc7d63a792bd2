import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { declaredSettings, settingNames, settingsOf } from '../../src/platform/config/declared-settings';
import { readSettings } from '../../src/platform/config/read-settings';
import { problemsOf } from '../support/problems-of';
import '../../src/app.module';

const pem = ({ privateKey }: KeyPairKeyObjectResult, type: 'pkcs1' | 'pkcs8' = 'pkcs8') =>
  privateKey.export({ type, format: 'pem' }).toString();
const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Those of the modules beside those of the service. */
function allSettings(environment: Record<string, string>): object {
  const settings = readSettings(environment);
  return Object.assign({ ...settings }, ...declaredSettings().map(([type]) => settingsOf(settings, type)));
}

describe('Settings', () => {
  it('are all optional, with these defaults', () => {
    expect(allSettings({})).toEqual({
      IDEMPOTENCY_KEY_LIMIT: 10_000,
      WRITE_QUOTA: 32 * 1024 ** 2,
      WRITE_WINDOW: 86_400,
      AUDIT_RETENTION: 7_776_000,
      CHANGES_RETENTION: 604_800,
      CHANGES_LISTENERS: 10_000,
      CHANGES_LISTENERS_PER_USER: 20,
      CHANGES_LISTENERS_PER_NETWORK: 1_000,
      ORDER_EXPIRY: 86_400,
      MAX_OPEN_ORDERS: 100,
      MAX_WEBHOOKS: 100,
      WEBHOOK_RETRY_PERIOD: 259_200,
      WEBHOOK_MAX_DELAY: 21_600,
      WEBHOOK_DISABLE_AFTER: 432_000,
      WEBHOOK_SECRET_OVERLAP: 86_400,
      WEBHOOK_DELIVERY_RETENTION: 604_800,
      WEBHOOK_CONCURRENCY: 16,
      PORT: 3000,
      NODE_ENV: 'development',
      DATABASE_POOLER: 'none',
      DATABASE_POOL_SIZE: 15,
      DATABASE_REPLICA_POOL_SIZE: 15,
      DATABASE_REPLICA_MAX_LAG: 10,
      DATA_DIR: resolve('.data'),
      JWT_ISSUER: 'resource-api',
      JWT_AUDIENCE: 'resource-api',
      ACCESS_TOKEN_TTL: 900,
      REFRESH_TOKEN_TTL: 2_592_000,
      SESSION_MAX_AGE: 7_776_000,
      OIDC_TOKEN_MAX_AGE: 86_400,
      OIDC_TRUST_EMAIL: false,
      OIDC_LOCAL_PASSWORDS: false,
      CORS_ORIGINS: [],
      CORS_METHODS: ['GET', 'POST', 'PUT', 'DELETE'],
      PUBLIC_RATE_LIMIT: 60,
      PUBLIC_RATE_WINDOW: 60,
      LOGIN_RATE_LIMIT: 5,
      LOGIN_RATE_WINDOW: 60,
      LOGIN_ADDRESS_LIMIT: 30,
      LOGIN_ACCOUNT_LIMIT: 50,
      LOGIN_ACCOUNT_DELAY: 30,
      REGISTRATION_RATE_LIMIT: 30,
      REGISTRATION_RATE_WINDOW: 60,
      RENAME_RATE_LIMIT: 10,
      RENAME_RATE_WINDOW: 3600,
      API_DOCS: true,
      TRUST_PROXY: 0,
      REQUEST_TIMEOUT: 30_000,
      SEARCH_CONNECTIONS: 3,
      SEARCH_TIMEOUT: 5_000,
      EXPORT_CONNECTIONS: 3,
      EXPORT_TIMEOUT: 900_000,
      JOB_STATEMENT_TIMEOUT: 0,
      JSON_BODY_LIMIT: 1024 ** 2,
      MAX_UPLOAD_SIZE: 5 * 1024 ** 3,
      UPLOAD_QUOTA: 20 * 1024 ** 3,
      UPLOAD_MAX_COUNT: 10_000,
      UPLOAD_MAX_OPEN: 200,
      UPLOAD_MAX_OPEN_PER_USER: 5,
      UPLOAD_EXPIRY: 86_400,
      MIN_FREE_DISK: 1024 ** 3,
      LOG_LEVEL: 'info',
      PROCESSES: 1,
      METRICS_HOST: '127.0.0.1',
    });
  });

  it.each([
    ['PORT', '0', 0],
    ['PORT', '65535', 65535],
    ['HOST', '::1', '::1'],
    ['DATABASE_URL', 'postgres://me:a%20b@db:5433/x', 'postgres://me:a%20b@db:5433/x'],
    ['DATABASE_URL', 'postgresql://db', 'postgresql://db'],
    ['DATABASE_URL', 'postgres:///x?host=/run/postgresql', 'postgres:///x?host=/run/postgresql'],
    ['DATABASE_URL', 'postgres://me@/x?host=/run/postgresql', 'postgres://me@/x?host=/run/postgresql'],
    ['DATA_DIR', 'somewhere', resolve('somewhere')],
    ['DEMO_DATA', 'false', false],
    ['DEMO_DATA', 'true', true],
    ['JWT_SECRET', 'ä'.repeat(16), 'ä'.repeat(16)],
    ['CORS_ORIGINS', 'https://a.example, http://localhost:5173,', ['https://a.example', 'http://localhost:5173']],
    ['CORS_METHODS', 'GET', ['GET']],
    ['REDIS_URL', 'rediss://cache:6380/1', 'rediss://cache:6380/1'],
    ['REQUEST_TIMEOUT', '86400000', 86_400_000],
    ['JOB_STATEMENT_TIMEOUT', '0', 0],
    ['JOB_STATEMENT_TIMEOUT', '86400000', 86_400_000],
    ['LOG_LEVEL', 'silent', 'silent'],
  ])('take %s=%s', (name, value, read) => {
    expect(readSettings({ [name]: value })).toMatchObject({ [name]: read });
  });

  const aWholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) => `a whole number from ${min} to ${max}`;
  const url = 'a URL such as postgres://user:password@host:5432/database';

  it.each([
    ['PORT', '65536', aWholeNumber(0, 65535)],
    ['PORT', '-1', aWholeNumber(0, 65535)],
    ['PORT', '3000.5', aWholeNumber(0, 65535)],
    ['PORT', '3e3', aWholeNumber(0, 65535)],
    ['PORT', '0x10', aWholeNumber(0, 65535)],
    ['PORT', 'http', aWholeNumber(0, 65535)],
    ['NODE_ENV', 'prod', 'one of the following values: development, production, test'],
    ['DATABASE_URL', 'mysql://db', url],
    ['DATABASE_URL', 'postgres://me:p#ss@db/x', url],
    ['DATABASE_POOL_SIZE', '1', aWholeNumber(2, 1000)],
    ['DEMO_DATA', 'yes', 'true or false'],
    ['ACCESS_TOKEN_TTL', '0', aWholeNumber(1, 86_400)],
    ['REFRESH_TOKEN_TTL', '0', aWholeNumber(1, 315_360_000)],
    ['SESSION_MAX_AGE', '0', aWholeNumber(1, 315_360_000)],
    ['OIDC_TOKEN_MAX_AGE', '31536001', aWholeNumber(1, 31_536_000)],
    ['OIDC_TRUST_EMAIL', 'yes', 'true or false'],
    ['OIDC_LOCAL_PASSWORDS', '1', 'true or false'],
    ['OPEN_REGISTRATION', 'never', 'true or false'],
    ['CORS_ORIGINS', '*', 'origins such as https://app.example.com'],
    ['CORS_ORIGINS', 'https://a.example/path', 'origins such as https://app.example.com'],
    ['CORS_METHODS', 'get', 'methods such as GET,POST'],
    ['PUBLIC_RATE_LIMIT', '0', aWholeNumber(1)],
    ['PUBLIC_RATE_WINDOW', '0', aWholeNumber(1, 86_400)],
    ['LOGIN_RATE_LIMIT', '9007199254740992', aWholeNumber(1)],
    ['LOGIN_RATE_WINDOW', '86401', aWholeNumber(1, 86_400)],
    ['LOGIN_ACCOUNT_DELAY', '61', aWholeNumber(1, 60)],
    ['API_DOCS', 'no', 'true or false'],
    ['TRUST_PROXY', 'true', aWholeNumber(0, 100)],
    ['REQUEST_TIMEOUT', '86400001', aWholeNumber(1, 86_400_000)],
    ['SEARCH_CONNECTIONS', '0', aWholeNumber(1, 1000)],
    ['SEARCH_TIMEOUT', '0', aWholeNumber(1, 86_400_000)],
    ['EXPORT_CONNECTIONS', '0', aWholeNumber(1, 1000)],
    ['EXPORT_TIMEOUT', '0', aWholeNumber(1, 86_400_000)],
    ['JOB_STATEMENT_TIMEOUT', '86400001', aWholeNumber(0, 86_400_000)],
    ['JSON_BODY_LIMIT', '1mb', aWholeNumber(1, 104_857_600)],
    ['MAX_UPLOAD_SIZE', '0', aWholeNumber(1)],
    ['UPLOAD_QUOTA', '0', aWholeNumber(1)],
    ['UPLOAD_MAX_COUNT', '0', aWholeNumber(1)],
    ['UPLOAD_MAX_OPEN', '0', aWholeNumber(1)],
    ['UPLOAD_MAX_OPEN_PER_USER', '0', aWholeNumber(1)],
    ['UPLOAD_EXPIRY', '0', aWholeNumber(1, 365 * 86_400)],
    ['MIN_FREE_DISK', '-1', aWholeNumber(0)],
    ['LOG_LEVEL', 'loud', 'one of the following values: fatal, error, warn, info, debug, trace, silent'],
    ['PROCESSES', '0', aWholeNumber(1, 256)],
    ['METRICS_PORT', '65536', aWholeNumber(0, 65535)],
  ])('refuse %s=%s', (name, value, rule) => {
    expect(problemsOf({ [name]: value })).toEqual([`${name} must be ${rule}`]);
  });

  it.each([
    ['one key', pem(key)],
    ['one key in the older form', pem(key, 'pkcs1')],
    ['one key with its line breaks spelt out', pem(key).replaceAll('\n', '\\n')],
    ['two keys', pem(key) + pem(key, 'pkcs1')],
  ])('take %s to sign with', (_what, JWT_PRIVATE_KEY) => {
    expect(readSettings({ JWT_PRIVATE_KEY }).JWT_PRIVATE_KEY).toBe(JWT_PRIVATE_KEY.replaceAll('\\n', '\n'));
  });

  it.each([
    ['anything else', 'a key'],
    ['a damaged key', pem(key).replace('MII', 'MIX')],
    ['a weak key', pem(weak)],
    ['a weak key behind a good one', pem(key) + pem(weak)],
    ['an elliptic key', pem(elliptic)],
    ['a public key', key.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ])('do not take %s to sign with', (_what, JWT_PRIVATE_KEY) => {
    expect(problemsOf({ JWT_PRIVATE_KEY })).toEqual([
      'JWT_PRIVATE_KEY must be one or more RSA private keys in PEM, each of 2048 bits or more',
    ]);
  });

  it.each([
    [{ REDIS_URL: 'http://cache' }, 'REDIS_URL must start with redis:// or rediss://'],
    [{ OIDC_ISSUER: 'issuer', OIDC_AUDIENCE: 'api' }, 'OIDC_ISSUER must be a URL address'],
    [{ OIDC_AUDIENCE: 'api' }, 'OIDC_ISSUER and OIDC_AUDIENCE go together'],
    [
      { OIDC_ISSUER: 'https://id.example', OIDC_AUDIENCE: 'api', JWT_ISSUER: 'https://id.example' },
      'OIDC_ISSUER and JWT_ISSUER must differ',
    ],
    [{ ADMIN_USERNAME: 'root', ADMIN_EMAIL: 'a@b.c' }, 'ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD go together'],
    [{ JWT_SECRET: 'x'.repeat(31) }, 'JWT_SECRET must have at least 32 bytes'],
    [{ TLS_KEY: 'key.pem' }, 'TLS_CERT and TLS_KEY go together'],
    [
      { S3_BUCKET: 'Uploads', S3_REGION: 'x' },
      'S3_BUCKET must be the name of a bucket: 3 to 63 of a-z, 0-9, dots and dashes',
    ],
    [{ S3_BUCKET: 'uploads' }, 'S3_BUCKET and S3_REGION go together'],
    [{ S3_ENDPOINT: 'http://127.0.0.1:9000' }, 'S3_ENDPOINT goes with S3_BUCKET'],
    [
      { S3_BUCKET: 'uploads', S3_REGION: 'eu-central-1', S3_ACCESS_KEY_ID: 'id' },
      'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together',
    ],
    [{ S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' }, 'S3_ACCESS_KEY_ID goes with S3_BUCKET'],
  ])('refuse %j', (environment: Record<string, string>, problem) => {
    expect(problemsOf(environment)).toEqual([problem]);
  });

  it('take a key or a secret to sign with, not both', () => {
    expect(problemsOf({ JWT_PRIVATE_KEY: pem(key), JWT_SECRET: 'x'.repeat(32) })).toEqual([
      'JWT_PRIVATE_KEY and JWT_SECRET exclude each other',
    ]);
  });

  it.each([
    [{}, true],
    [{ OIDC_ISSUER: 'https://id.example', OIDC_AUDIENCE: 'api' }, false],
    [{ OIDC_ISSUER: 'https://id.example', OIDC_AUDIENCE: 'api', OPEN_REGISTRATION: 'true' }, true],
    [{ OPEN_REGISTRATION: 'false' }, false],
  ])('make of %j: open registration %s', (environment: Record<string, string>, open) => {
    expect(readSettings(environment).openRegistration).toBe(open);
  });

  it.each([
    [{}, true],
    [{ NODE_ENV: 'test' }, true],
    [{ DATABASE_URL: 'postgres://db/x' }, false],
    [{ DATABASE_URL: 'postgres://db/x', DEMO_DATA: 'true' }, true],
    [{ DEMO_DATA: 'false' }, false],
  ])('make of %j: demo data %s', (environment: Record<string, string>, demoData) => {
    expect(readSettings(environment).demoData).toBe(demoData);
  });

  it.each([
    [{}, '127.0.0.1', '127.0.0.1'],
    [{ HOST: '0.0.0.0' }, '0.0.0.0', '0.0.0.0'],
    [{ DEMO_DATA: 'false' }, undefined, '127.0.0.1'],
    [{ DATABASE_URL: 'postgres://db/x' }, undefined, '127.0.0.1'],
    [{ DATABASE_URL: 'postgres://db/x', DEMO_DATA: 'true' }, '127.0.0.1', '127.0.0.1'],
  ])('make of %j: listen on %s, with demo accounts on %s', (environment: Record<string, string>, address, with_) => {
    expect(readSettings(environment).listenAddress()).toBe(address);
    expect(readSettings(environment).listenAddress(true)).toBe(with_);
  });

  it('are all checked before the start is refused, and none is repeated', () => {
    const secret = {
      PORT: 'secret',
      DATABASE_URL: 'secret',
      JWT_SECRET: 'secret',
      REDIS_URL: 'secret',
      OIDC_ISSUER: 'secret',
    };

    expect(problemsOf(secret)).toHaveLength(6);
    expect(() => readSettings(secret)).toThrow(/^These settings are wrong:\n( {2}- .+\n?){6}$/);
    expect(problemsOf(secret).join()).not.toContain('secret');
  });

  it('are unset when they are empty, and nothing else of the environment is one', () => {
    const environment = { PORT: '', DATABASE_URL: '', PATH: '/bin', production: 'true', demoData: 'x', __proto__: 'x' };

    expect(readSettings(environment)).toEqual(readSettings({}));
  });

  it('are all in .env.example, each with its default and a line about it', () => {
    const text = readFileSync('.env.example', 'utf8');
    const examples = [...text.matchAll(/^# [A-Za-z].*\n# ([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ]);

    expect(examples.map(([name]) => name).sort()).toEqual(settingNames().sort());
    expect(allSettings(Object.fromEntries(examples))).toEqual(allSettings({}));
    const assignments = text.split('\n').filter((line) => /^#? *[A-Z0-9_]+=/.test(line));
    expect(assignments).toEqual(examples.map(([name, value]) => `# ${name}=${value}`));
  });
});
