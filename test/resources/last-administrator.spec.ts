import { DataSource } from 'typeorm';
import { type Answer, countStatuses, expectError, times } from '../../src/platform/testing';
import { UserStatus } from '../../src/resources/users/user.entity';
import { type TestUser, useTestApi } from '../support/test-api';

describe('one active administrator', () => {
  const api = useTestApi();

  // With none but those that a test makes.
  beforeEach(() => api.app.nest.get(DataSource).query("UPDATE users SET roles = '{USER}'"));

  const administrators = () =>
    api.app.nest
      .get(DataSource)
      .query<object[]>("SELECT id FROM users WHERE 'ADMIN' = ANY(roles) AND status = 'ACTIVE' AND deleted_at IS NULL");
  const ends: [string, (by: TestUser, user: TestUser) => Promise<Answer>][] = [
    ['PATCH of the roles', (by, { id }) => api.as(by).patch(`/users/${id}`, { roles: ['USER'] })],
    ['PATCH of the status', (by, { id }) => api.as(by).patch(`/users/${id}`, { status: 'SUSPENDED' })],
    [
      'PUT of the roles',
      (by, { id, username, email }) => api.as(by).put(`/users/${id}`, { username, email, roles: ['USER'] }),
    ],
    [
      'PUT of the status',
      (by, { id, username, email }) => api.as(by).put(`/users/${id}`, { username, email, status: 'SUSPENDED' }),
    ],
    ['DELETE', (by, { id }) => api.as(by).delete(`/users/${id}`)],
  ];

  it.each(ends)('stays: the last one is not ended by %s', async (_name, end) => {
    const last = await api.admin();
    // Neither of them can take its place.
    await api.admin({ status: UserStatus.SUSPENDED });
    const gone = await api.admin();
    expect(await api.as(last).delete(`/users/${gone.id}`)).toMatchObject({ status: 204 });

    const { fields } = expectError(await end(last, last), 'CONFLICT');
    expect(fields).toEqual([expect.objectContaining({ rule: 'administrator' })]);
    expect(await administrators()).toEqual([{ id: last.id }]);
    expect(await api.as(last).patch(`/users/${last.id}`, { name: 'Still here' })).toMatchObject({ status: 200 });

    const other = await api.admin();
    expect([200, 204]).toContain((await end(last, last)).status);
    expect(await administrators()).toEqual([{ id: other.id }]);
  });

  it('stays after a PUT of itself without roles', async () => {
    const { id, username, email, token } = await api.admin();

    expect(await api.as({ token }).put(`/users/${id}`, { username, email })).toMatchObject({
      status: 200,
      body: { data: { roles: ['USER', 'ADMIN'] } },
    });
  });

  it.each(ends)('stays when two end each other at once by %s', async (_name, end) => {
    for (let round = 0; round < 3; round++) {
      const [one, other] = [await api.admin(), await api.admin()];
      // Alone with each other.
      await api.app.nest
        .get(DataSource)
        .query("UPDATE users SET roles = '{USER}' WHERE id <> ALL($1)", [[one.id, other.id]]);

      const answers = await Promise.all([end(one, other), end(other, one)]);

      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses[0]).toBeLessThan(300);
      expect([401, 403, 404]).toContain(statuses[1]);
      expect(await administrators()).toHaveLength(1);
    }
  });

  it.each(ends)('stays when all end themselves at once by %s', async (_name, end) => {
    const all = await Promise.all(times(8, () => api.admin()));

    const answers = await Promise.all(all.map((one) => end(one, one)));

    const counts = countStatuses(answers);
    expect(counts).toEqual({ [answers.find(({ status }) => status < 300)!.status]: 7, 409: 1 });
    expect(await administrators()).toHaveLength(1);
  });

  it('is 412 before 409, for who expects another version', async () => {
    const last = await api.admin();
    const headers = { 'If-Match': '"99"' };

    expect(await api.as(last).patch(`/users/${last.id}`, { roles: ['USER'] }, headers)).toMatchObject({ status: 412 });
    expect(await api.as(last).delete(`/users/${last.id}`, undefined, headers)).toMatchObject({ status: 412 });
  });
});
