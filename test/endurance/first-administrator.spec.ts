import { Role } from '../../src/platform';
import { cloneTemplate, query, type TestApp, times } from '../../src/platform/testing';
import { UserStatus } from '../../src/resources/users/user.entity';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const ADMIN_PASSWORD = 'the first password';
const first = { ADMIN_USERNAME: 'root', ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD };

describe('the first administrator', () => {
  let database: Awaited<ReturnType<typeof cloneTemplate>>;
  const started: TestApp[] = [];

  beforeEach(async () => {
    database = await cloneTemplate();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((app) => app.stop()));
    await database.drop();
  });

  async function start(settings: Record<string, string> = first): Promise<TestApi> {
    const api = new TestApi();
    api.app = await startApp({ settings, databaseUrl: database.url });
    started.push(api.app);
    return api;
  }

  const administrators = () =>
    query(
      database.url,
      "SELECT username, status FROM users WHERE 'ADMIN' = ANY(roles) AND deleted_at IS NULL ORDER BY id",
    );
  const signIn = (api: TestApi) => api.post('/auth/tokens', { username: 'root', password: ADMIN_PASSWORD });
  const warnings = ({ app }: TestApi) =>
    app.log.filter(({ level, msg }) => level === 40 && /administrator/.test(String(msg)));

  it('is made when there is none, and signs in', async () => {
    const api = await start();

    expect(await signIn(api)).toMatchObject({ status: 201 });
    expect(warnings(api)).toEqual([]);
  });

  it('is made once when many instances start at once', async () => {
    await Promise.all(times(4, () => start()));

    expect(await administrators()).toEqual([{ username: 'root', status: 'ACTIVE' }]);
  });

  it('is made when every other is suspended or deleted', async () => {
    const before = await start({});
    await before.admin({ username: 'suspended', status: UserStatus.SUSPENDED });
    const deleted = await before.admin({ username: 'deleted' });
    await query(database.url, 'UPDATE users SET deleted_at = now() WHERE id = $1', [deleted.id]);

    expect(await signIn(await start())).toMatchObject({ status: 201 });
    expect(await administrators()).toEqual([
      { username: 'suspended', status: 'SUSPENDED' },
      { username: 'root', status: 'ACTIVE' },
    ]);
  });

  it.each([
    ['ADMIN_USERNAME', { username: 'ROOT' }],
    ['ADMIN_EMAIL', { email: 'Root@example.com' }],
    [
      'ADMIN_USERNAME',
      { username: 'root', email: 'root@example.com', roles: [Role.ADMIN], status: UserStatus.SUSPENDED },
    ],
  ])(
    'keeps no instance from starting when another user has the name of %s: the log says so',
    async (name, attributes) => {
      await (await start({})).user(attributes);

      const instances = await Promise.all(times(2, () => start()));

      for (const api of instances) expect(await api.get('//health/ready')).toMatchObject({ status: 200 });
      // Two applications share a process, and one of them has the lines of both.
      const told = instances.flatMap(warnings);
      expect(told).toHaveLength(2);
      for (const { msg } of told) expect(msg).toContain(name);
      expect(
        await query(database.url, "SELECT id FROM users WHERE 'ADMIN' = ANY(roles) AND status = 'ACTIVE'"),
      ).toEqual([]);
    },
  );
});
