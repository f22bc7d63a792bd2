// The measured servers: how each one starts, and what it is.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const NEST_OUTPUT = 'node_modules/.cache/resource-api-bench/nest';

/** Above any load, so that refusals aren't measured. What is counted is counted nevertheless. */
const NO_LIMIT = '1000000000';
/** In seconds, longer than any run. */
const TOKEN_TTL = '86400';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

export const PRODUCT = {
  title: 'Resource API',
  about: 'This service, compiled, `NODE_ENV=production`: tokens, validation, envelope, log and all else.',
  // The options between `node` and the script.
  nodeOptions: scripts['start:prod'].split(' ').slice(1, -1),
  environment: ({ secrets, directory }) => ({
    DATA_DIR: directory,
    JWT_PRIVATE_KEY: secrets.privateKey,
    TRUST_PROXY: '1',
    PUBLIC_RATE_LIMIT: NO_LIMIT,
    WRITE_QUOTA: NO_LIMIT,
    MAX_OPEN_ORDERS: NO_LIMIT,
    IDEMPOTENCY_KEY_LIMIT: NO_LIMIT,
    ACCESS_TOKEN_TTL: TOKEN_TTL,
    ADMIN_USERNAME: secrets.admin.username,
    ADMIN_EMAIL: secrets.admin.email,
    ADMIN_PASSWORD: secrets.admin.password,
  }),
};

const DROP_AUDIT = `
  DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT DISTINCT proname FROM pg_proc JOIN pg_trigger ON tgfoid = pg_proc.oid WHERE proname ~ '_audit(_together)?$' LOOP
      EXECUTE 'DROP FUNCTION ' || name || ' CASCADE';
    END LOOP;
  END $$`;

/** The service with something switched on that is off by default, or without something, for the works that name it in `variants`. */
export const VARIANTS = {
  metrics: {
    title: `${PRODUCT.title} with metrics`,
    about: 'The same with `METRICS_PORT`.',
    settings: () => ({ METRICS_PORT: '0' }),
  },
  traces: {
    title: `${PRODUCT.title} with traces`,
    about: 'The same with `OTEL_EXPORTER_OTLP_ENDPOINT`: one request of a hundred is traced and sent to a receiver.',
    settings: ({ receiver }) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    }),
  },
  unaudited: {
    title: `${PRODUCT.title} without the audit`,
    about:
      'The same on a database of its own without the triggers of `auditRows()`: no audit events, no feed of changes.',
    settings: () => ({}),
    prepare: (client) => client.query(DROP_AUDIT),
  },
};

/** How a server starts. */
export function programOf(name) {
  const { settings } = VARIANTS[name] ?? {};
  if (!settings) return REFERENCES[name] ?? PRODUCT;
  return { ...PRODUCT, environment: (bench) => ({ ...PRODUCT.environment(bench), ...settings(bench) }) };
}

/** The servers in bench/reference, by their names for `--only`. */
export const REFERENCES = {
  bare: {
    title: 'L0: bare node:http',
    about: 'node:http and pg with named statements and JSON by hand; no router, validation, token or log.',
    script: 'bench/reference/bare/server.mjs',
  },
  fastify: {
    title: 'Fastify + pg',
    about: 'Fastify 5 with schemas, the same statements; no token, no log.',
    script: 'bench/reference/fastify/server.mjs',
  },
  express: {
    title: 'Express + pg',
    about: 'Express 5, the same statements; no validation, token or log.',
    script: 'bench/reference/express/server.mjs',
  },
  nest: {
    title: 'Nest as usual',
    about:
      'Nest 12 and TypeORM repositories, passport-jwt with a string secret, class-validator pipes, an envelope ' +
      'interceptor, pino-http, helmet, compression, throttler.',
    script: join(NEST_OUTPUT, 'main.js'),
    environment: ({ secrets }) => ({ JWT_SECRET: secrets.jwtSecret }),
  },
};

/** Runs one of them in several processes. */
export const CLUSTER = 'bench/reference/cluster.mjs';

/** Where a checkout has its programs: those of its tests, which have all measured routes. Older ones don't say it. */
export function programsOf(folder = '.') {
  const path = join(folder, 'test/support/application-places.json');
  return existsSync(path)
    ? JSON.parse(readFileSync(path, 'utf8'))
    : { program: 'dist/main.js', seed: 'dist/seed/main.js' };
}

/** Compiles TypeScript. */
export function build(names) {
  if (names.some((name) => !(name in REFERENCES))) run('scripts/build-if-changed.mjs', '--tests');
  if (names.includes('nest')) run('node_modules/typescript/bin/tsc', '-p', 'bench/reference/nest');
}

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command.join(' ')} failed`);
}
