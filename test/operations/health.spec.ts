import { DataSource } from 'typeorm';
import { expectError, expectSuccess, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const POOL_SIZE = 2;
const allIsWell = (checks: object) => ({ status: 'ok', info: checks, error: {}, details: checks });

describe('/health', () => {
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(POOL_SIZE) } });

  it('says that the process is alive, and what makes it ready', async () => {
    expect(expectSuccess(await api.get('//health/live'))).toEqual(allIsWell({}));
    expect(expectSuccess(await api.get('//health/ready'))).toEqual(
      allIsWell({ database: { status: 'up', responseTime: expect.any(Number) }, accepting: { status: 'up' } }),
    );
  });

  it.each(['live', 'ready'])(
    'answers %s to anyone, whatever the token, outside the API, and to be kept nowhere',
    async (name) => {
      const answer = await api.get(`//health/${name}`, { Authorization: 'Bearer nonsense' });

      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await api.get(`/health/${name}`)).toMatchObject({ status: 404 });
    },
  );

  it('is alive but not ready while no connection to the database is to be had', async () => {
    const database = api.app.nest.get(DataSource);
    const busy = times(POOL_SIZE, () => database.createQueryRunner());
    await Promise.all(busy.map((connection) => connection.connect()));

    const ready = api.get('//health/ready');
    expect(await api.get('//health/live')).toMatchObject({ status: 200 });
    expectError(await ready, 'SERVICE_UNAVAILABLE');

    await Promise.all(busy.map((connection) => connection.release()));
    expect(await api.get('//health/ready')).toMatchObject({ status: 200 });
  });
});
