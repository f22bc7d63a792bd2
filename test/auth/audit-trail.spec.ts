import { AuditEvent } from '../../src/platform';
import { DataSource } from 'typeorm';
import { AuditTrail } from '../../src/platform/auth/audit-trail';
import { expectError, expectSuccess, times, waitFor } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

describe('Security events', () => {
  const api = useTestApi();
  const events = () => api.app.nest.get(DataSource).getRepository(AuditEvent);
  const byAction = (action: string) => events().find({ where: { action }, order: { id: 'ASC' } });

  it('are audit events of sign-ins, failures and sign-outs', async () => {
    const { id, username, password } = await api.user();
    const pair = expectSuccess(await api.post('/auth/tokens', { username, password }), 201, 'Created') as Record<
      string,
      string
    >;
    expectError(await api.post('/auth/tokens', { username, password: 'another password' }), 'UNAUTHORIZED');
    await api.delete('/auth/tokens', { refresh_token: pair.refresh_token });

    await waitFor(async () => (await byAction('AUTHN_TOKEN_REVOKED')).length > 0);
    expect(await byAction('AUTHN_LOGIN_SUCCESS')).toMatchObject([{ user_id: id, details: { outcome: 'success' } }]);
    const [failure] = await byAction('AUTHN_LOGIN_FAIL');
    expect(failure).toMatchObject({ user_id: null, details: { outcome: 'failure', target_id: id } });
    const sessions = await events().find({ where: { resource: 'sessions' }, order: { id: 'ASC' } });
    expect(sessions.map(({ action }) => action)).toEqual(['CREATED', 'CREATED', 'DELETED']);
    const text = JSON.stringify(await events().find());
    for (const secret of [password, 'another password', pair.refresh_token, pair.access_token]) {
      expect(text).not.toContain(secret);
    }
  });

  it('are audit events of refused access, with its caller and request', async () => {
    const owner = await api.user();
    const other = await api.user();
    const { id } = await new Fixtures(api, owner).order();
    const answer = await api.as(other).get(`/orders/${id}`);
    expectError(answer, 'FORBIDDEN');

    await waitFor(async () => (await byAction('AUTHZ_FAIL')).length > 0);
    expect(await byAction('AUTHZ_FAIL')).toMatchObject([
      {
        user_id: other.id,
        request_id: answer.headers.get('x-request-id'),
        details: { status: 403, method: 'GET', target: { id } },
      },
    ]);
  });

  it('become no more than a hundred rows in a minute for one neighbourhood', async () => {
    const trail = new AuditTrail(api.app.nest.get(DataSource));
    const event = { user_id: null, request_id: null, action: 'A_FLOOD', details: {} };
    times(300, (index) => trail.add({ ...event, address: `192.0.2.${index % 200}` }));
    trail.add({ ...event, address: '198.51.100.1' });
    await trail.beforeApplicationShutdown();

    expect(await byAction('A_FLOOD')).toHaveLength(101);
  });
});
