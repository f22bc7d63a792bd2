import { randomUUID } from 'node:crypto';
import { DeclaredAccess, type DeclaredRoute } from '../../src/platform/auth/declared-access';
import type { ErrorExample } from '../../src/platform/docs/error-examples';
import { Extension } from '../../src/platform/http/route-keys';
import { type Answer, type Client, expectError, statementsOf } from '../../src/platform/testing';
import { ALL_ARE_ASKED, lacks } from '../support/asked';
import { aNewUser } from '../support/builders';
import { Fixtures } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

/** The metadata key of @nestjs/swagger's extensions. */
const API_EXTENSION = 'swagger/apiExtension';
const TAKEN = 'is already taken';
const rulesOf = (answer: Answer) => expectError(answer, 'CONFLICT').fields?.map(({ field, rule }) => [field, rule]);

describe('A conflict', () => {
  const api = useTestApi();
  let ada: TestUser;
  let eve: TestUser;
  let admin: Client;

  beforeAll(async () => {
    [ada, eve] = await Promise.all([api.user(), api.user()]);
    admin = api.as(await api.admin());
  });

  it('has an entry for each conflict wherever a route raises one', () => {
    const conflicts = api.app.nest.get(DeclaredAccess).routes().flatMap(conflictsOf);
    if (ALL_ARE_ASKED) expect(conflicts.length).toBeGreaterThan(10);
    lacks(
      conflicts
        .filter(({ error }) => !error.fields?.length)
        .map(({ name, error }) => `${name} raises a conflict without \`fields\`: ${error.details}; throw conflict()`),
    );
  });

  describe('of values that must be unique', () => {
    const both = [
      { field: 'username', rule: 'unique', message: TAKEN },
      { field: 'email', rule: 'unique', message: TAKEN },
    ];
    const newcomer = () => aNewUser({ username: ada.username.toUpperCase(), email: eve.email.toUpperCase() });

    it('names all of them', async () => {
      const { fields, details } = expectError(await api.post('/users', newcomer()), 'CONFLICT');

      expect(fields).toEqual(both);
      expect(details).toBe(`username: ${TAKEN}; email: ${TAKEN}`);
    });

    it('names all of them with an Idempotency-Key, which is free again', async () => {
      const key = { 'Idempotency-Key': randomUUID() };

      expect(expectError(await api.post('/users', newcomer(), key), 'CONFLICT').fields).toEqual(both);
      expect((await api.post('/users', aNewUser(), key)).status).toBe(201);
    });

    it('names all of them to an administrator, and in a change', async () => {
      const user = await api.user();
      const { username } = ada;
      const { email } = eve;

      expect(expectError(await admin.post('/users', { ...newcomer(), roles: ['USER'] }), 'CONFLICT').fields).toEqual(
        both,
      );
      expect(rulesOf(await api.as(user).put(`/users/${user.id}`, { username, email }))).toHaveLength(2);
      expect(rulesOf(await admin.patch(`/users/${user.id}`, { username, email }))).toHaveLength(2);
    });

    it('names neither those that are free, nor the own ones, nor those of deleted users', async () => {
      const user = await api.user();
      const gone = await api.user();
      await admin.delete(`/users/${gone.id}`);
      const patch = (changes: object) => api.as(user).patch(`/users/${user.id}`, changes);

      expect(rulesOf(await patch({ username: ada.username, email: user.email }))).toEqual([['username', 'unique']]);
      expect(rulesOf(await patch({ username: gone.username, email: ada.email }))).toEqual([['email', 'unique']]);
      expect(rulesOf(await api.post('/users', aNewUser({ username: ada.username })))).toEqual([['username', 'unique']]);
    });

    it('costs nothing where there is none', async () => {
      const statements = await statementsOf(() => api.post('/users', aNewUser()));

      expect(statements.filter((text) => text.includes('EXISTS (SELECT FROM "users" AS other'))).toEqual([]);
    });
  });

  it('of a transition names the status', async () => {
    const { id } = await new Fixtures(api, ada).order({ status: 'DELIVERED' });

    const answer = await admin.patch(`/orders/${id}/status`, { status: 'PAID' });
    expect(expectError(answer, 'CONFLICT').fields).toEqual([
      { field: 'status', rule: 'transition', message: "an order that is DELIVERED can't become PAID" },
    ]);
  });

  it('of an upload names the header', async () => {
    const { key } = await new Fixtures(api, ada).upload();
    const chunk = { 'Tus-Resumable': '1.0.0', 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '1' };

    expect(rulesOf(await api.as(ada).patch(`/uploads/${String(key)}`, Buffer.from('x'), chunk))).toEqual([
      ['Upload-Offset', 'offset'],
    ]);
  });
});

/** The conflicts that a route names by @Raises(). */
function conflictsOf({ name, targets: [handler] }: DeclaredRoute) {
  const extensions = (Reflect.getMetadata(API_EXTENSION, handler) ?? {}) as Record<string, unknown>;
  const raised = (extensions[Extension.RAISES] ?? []) as ErrorExample[];
  const conflicts = raised.filter(({ code }) => code === 'CONFLICT');
  return conflicts.map(({ body }) => {
    const error: { details: string; fields?: object[] } = body.error;
    return { name, error };
  });
}
