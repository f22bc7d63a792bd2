import { query, type TestApp } from '../../src/platform/testing';
import { DEMO_PASSWORD } from '../../src/demo/content';
import { DemoAccounts } from '../../src/demo/demo-accounts';
import { TestApi, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const withDemoData = { DEMO_DATA: 'true' };

describe('The password of demo data', () => {
  const api = useTestApi({ settings: withDemoData });
  const production = {
    NODE_ENV: 'production',
    TRUST_PROXY: '1',
    JWT_SECRET: 'a secret of at least thirty-two bytes',
    ADMIN_USERNAME: 'root',
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'long enough',
  };
  const start = (settings: Record<string, string> = production) =>
    startApp({ settings, databaseUrl: api.app.databaseUrl });
  const sql = (text: string) => query(api.app.databaseUrl, text);

  it('keeps the service from starting in production as long as it opens an account, whatever that is called', async () => {
    await expect(start()).rejects.toThrow(/demo data.*: ada, grace, edsger, barbara, mallory\.\n/);
    await sql(`UPDATE users SET username = 'another', username_key = 'another' WHERE username = 'grace'`);
    await sql(`UPDATE users SET password_hash = NULL WHERE username NOT IN ('another', 'mallory')`);

    await expect(start()).rejects.toThrow(/demo data.*: another, mallory\.\n/);
  });

  it('is gone when what the refusal says was done, and the administrator of the settings is made', async () => {
    const refusal = await start().then(
      () => undefined,
      ({ message }: Error) => message,
    );
    await sql(/UPDATE .*;/.exec(refusal!)![0]);
    const service = await start();
    try {
      const other = new TestApi();
      other.app = service;
      const client = other.with({ 'X-Forwarded-Proto': 'https' });
      const signIn = (username: string, password: string) => client.post('/auth/tokens', { username, password });

      expect(await signIn('root', 'long enough')).toMatchObject({ status: 201 });
      expect(await signIn('another', DEMO_PASSWORD)).toMatchObject({ status: 401 });
    } finally {
      await service.stop();
    }
  });

  it('is not taken for the administrator of production, of whom nothing is made', async () => {
    const other = await startApp({ settings: { DEMO_DATA: 'false' } });
    try {
      const { databaseUrl } = other;
      const settings = { ...production, ADMIN_PASSWORD: DEMO_PASSWORD };

      await expect(startApp({ settings, databaseUrl })).rejects.toThrow(/ADMIN_PASSWORD is the password of the demo/);
      expect(await query(databaseUrl, "SELECT FROM users WHERE username = 'root'")).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('is no obstacle where strangers have taken it, with a name or an address of a demo user', async () => {
    const other = await startApp({ settings: { DEMO_DATA: 'false' } });
    try {
      const users = new TestApi();
      users.app = other;
      const register = (username: string, email: string) =>
        users.post('/users', { username, email, password: DEMO_PASSWORD });
      expect(await register('mallory', 'anyone@evil.example')).toMatchObject({ status: 201 });
      expect(await register('stranger', 'grace@example.com')).toMatchObject({ status: 201 });
      const { databaseUrl } = other;

      await (await startApp({ settings: production, databaseUrl })).stop();
      const service = await startApp({ settings: { DEMO_DATA: 'false' }, databaseUrl });
      await service.stop();
      expect(service.nest.get(DemoAccounts)).toMatchObject({ open: false, offered: false });
    } finally {
      await other.stop();
    }
  });

  it('is no obstacle once they have others, nor are users of those names, and it is offered to nobody', async () => {
    const other = await startApp({ settings: { DEMO_DATA: 'false' } });
    const databaseUrl = other.databaseUrl;
    try {
      const users = new TestApi();
      users.app = other;
      await users.user({ username: 'ada', email: 'ada@example.com' });
      await users.admin({ username: 'grace', email: 'grace@example.com' });
      await (await startApp({ settings: production, databaseUrl })).stop();
      const exploring = await startApp({ settings: withDemoData, databaseUrl });
      await exploring.stop();

      expect(exploring.nest.get(DemoAccounts).offered).toBe(false);
    } finally {
      await other.stop();
    }
  });
});

describe('The administrator of the settings', () => {
  const api = useTestApi();
  const start = (ADMIN_USERNAME: string) =>
    startApp({
      settings: { ADMIN_USERNAME, ADMIN_EMAIL: `${ADMIN_USERNAME}@example.com`, ADMIN_PASSWORD: 'long enough' },
      databaseUrl: api.app.databaseUrl,
    });

  it('is ignored where there is another one, and a start says so', async () => {
    const starts = [await start('root'), await start('another'), await start('root')];
    await Promise.all(starts.map((app) => app.stop()));
    const warnings = ({ log }: TestApp) => log.filter(({ msg }) => String(msg).includes('are ignored'));

    expect(starts.map((app) => warnings(app).length)).toEqual([0, 1, 0]);
  });
});
