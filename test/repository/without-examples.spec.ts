import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createDatabase, dropDatabase, query, withDatabase } from '../../src/platform/testing';
import { DEMO_PASSWORD, demoUsers } from '../../src/demo/content';
import { BuiltService } from '../support/built-service';

const EXAMPLES = 'test/support/examples';
const PATIENCE = 60_000;

/** As long as the service has its examples, all other tests are about the service itself. */
const whereTheyLeft = existsSync(EXAMPLES) ? describe : describe.skip;

whereTheyLeft('The service without its examples', () => {
  const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
  const database = `${TEST_DATABASE_PREFIX}_without_examples_${process.pid}`;
  const url = withDatabase(TEST_SERVER_URL!, database);
  let service: BuiltService;

  beforeAll(async () => {
    await createDatabase(TEST_SERVER_URL!, database);
    const settings = { DATABASE_URL: url, DEMO_DATA: 'true', LOG_LEVEL: 'info', MIN_FREE_DISK: '0' };
    service = await BuiltService.start(settings, { script: 'dist/main.js' });
  }, PATIENCE);
  afterAll(async () => {
    await service?.stop();
    await dropDatabase(TEST_SERVER_URL!, database);
  });

  const nouns = existsSync(EXAMPLES) ? readdirSync(`${EXAMPLES}/resources`) : [];
  const read = async (path: string) => (await fetch(service.url + path)).json() as Promise<{ paths: object }>;

  it.each([
    ['docs/openapi.v1.json', '/docs/json'],
    ['docs/openapi.v2.json', '/docs/v2/json'],
  ])('has %s as its document, which names none of them', async (file, path) => {
    const { paths } = await read(path);

    expect(await read(path)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    expect(Object.keys(paths)).toContain('/health/ready');
    expect(Object.keys(paths).filter((one) => nouns.some((noun) => one.includes(`/${noun}`)))).toEqual([]);
  });

  it('answers 404 where they were', async () => {
    const statuses = nouns.map(async (noun) => (await fetch(`${service.url}/api/v1/${noun}`)).status);

    expect(nouns).toContain('products');
    expect(await Promise.all(statuses)).toEqual(nouns.map(() => 404));
  });

  it('makes no table of them', async () => {
    const tables = (await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")) as {
      tablename: string;
    }[];

    expect(tables.map(({ tablename }) => tablename)).toContain('users');
    expect(tables.filter(({ tablename }) => /product|order|post|comment|repl/.test(tablename))).toEqual([]);
  });

  it('has demo users who can sign in', async () => {
    const [{ count }] = await query(url, 'SELECT count(*)::int AS count FROM users');
    const answer = await fetch(`${service.url}/api/v1/auth/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: 'ada', password: DEMO_PASSWORD }),
    });

    expect(count).toBe(demoUsers.length);
    expect(answer.status).toBe(201);
  });
});
