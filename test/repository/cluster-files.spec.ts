import { existsSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';

interface Service {
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: string[] | Record<string, unknown>;
  security_opt?: string[];
  privileged?: boolean;
}

const FILE = 'compose.cluster.yaml';
const HAPROXY = readFileSync('ops/cluster/haproxy.cfg', 'utf8');
const PGBOUNCER = readFileSync('ops/cluster/pgbouncer.ini', 'utf8');
const compose = load(readFileSync(FILE, 'utf8')) as { services: Record<string, Service>; volumes: object };

/** Compose merges what `<<` names; YAML 1.2 doesn't. */
function merged<T extends object>(value: T): T {
  const { '<<': base, ...own } = value as T & { '<<'?: T };
  return { ...(base && merged(base)), ...own } as T;
}

const services = Object.fromEntries(
  Object.entries(compose.services).map(([name, service]) => {
    const whole = merged(service);
    return [name, { ...whole, ...(whole.environment && { environment: merged(whole.environment) }) }];
  }),
);
const instances = Object.keys(services).filter((name) => name.startsWith('api-'));

describe(FILE, () => {
  it('mounts files that are there, and volumes that it declares', () => {
    const sources = Object.values(services).flatMap(({ volumes = [] }) => volumes.map((one) => one.split(':')[0]));
    const missing = sources.filter((one) => !(one.startsWith('./') ? existsSync(one) : one in compose.volumes));

    expect(sources.length).toBeGreaterThan(5);
    expect(missing).toEqual([]);
  });

  it('depends on services that it has', () => {
    const named = Object.values(services).flatMap(({ depends_on = [] }) =>
      Array.isArray(depends_on) ? depends_on : Object.keys(depends_on),
    );

    expect(named.filter((name) => !(name in services))).toEqual([]);
  });

  it('tells HAProxy all addresses of its file, each of a service', () => {
    const variables = [...new Set([...HAPROXY.matchAll(/"\$\{(\w+)\}"/g)].map(([, name]) => name))];
    const { environment = {} } = services.haproxy;

    expect(Object.keys(environment).sort()).toEqual(variables.sort());
    const hosts = Object.values(environment).map((address) => address.split(':')[0]);
    expect(hosts.filter((host) => host !== '*' && !(host in services))).toEqual([]);
  });

  it('gives each instance a pooler of its own, and the same settings', () => {
    const urls = instances.map((name) => services[name].environment!.DATABASE_URL);

    expect(instances.length).toBe(3);
    expect(new Set(urls).size).toBe(3);
    for (const [index, url] of urls.entries()) expect(url).toContain(`@pgbouncer-${index + 1}:6432/`);
    const rest = instances.map((name) => ({ ...services[name].environment, DATABASE_URL: undefined }));
    expect(rest.every((one) => JSON.stringify(one) === JSON.stringify(rest[0]))).toBe(true);
    expect(rest[0]).toMatchObject({ DATABASE_POOLER: 'transaction', PROCESSES: '2', TRUST_PROXY: '1' });
  });

  it('publishes HAProxy alone, on this machine only', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));

    expect(published).toEqual([['haproxy', '127.0.0.1:3000:3000']]);
  });

  it.each(Object.keys(services))('gives %s no way to more rights', (name) => {
    expect(services[name].security_opt).toEqual(['no-new-privileges:true']);
    expect(services[name].privileged).toBeUndefined();
  });

  it('holds no password and no key', () => {
    const secrets = JSON.stringify(services).match(/(?:PASSWORD|SECRET)":"[^"]*/g)!;

    expect(secrets.length).toBeGreaterThan(4);
    for (const secret of secrets) expect(secret).toMatch(/:"\$\{/);
  });
});

describe('The pooler of the cluster', () => {
  it('pools by transaction, and refuses who waits before the service does', () => {
    expect(PGBOUNCER).toMatch(/^pool_mode = transaction$/m);
    const [, seconds] = /^query_wait_timeout = (\d+)$/m.exec(PGBOUNCER)!;
    expect(Number(seconds)).toBeLessThan(30);
  });
});
