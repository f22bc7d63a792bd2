import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { Client } from '../../src/platform/testing';
import { expectError, statementsOf, type TestApp, times } from '../../src/platform/testing';
import { clientOf, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const LIMIT = 40;
/** What a process may allow after a count of 0. */
const PART = LIMIT / 20;
const settings = { IDEMPOTENCY_KEY_LIMIT: String(LIMIT) };
const body = { title: 'A post', content: 'A text' };

const post = async (caller: Client) => (await caller.post('/posts', body, { 'Idempotency-Key': randomUUID() })).status;

describe('The number of the keys of a caller', () => {
  const api = useTestApi({ settings });
  let other: TestApp;

  beforeAll(async () => {
    other = await startApp({ settings, databaseUrl: api.app.databaseUrl });
  });

  afterAll(() => other?.stop());

  const keysOf = async (user: number) => {
    const text = "SELECT count(*)::int FROM idempotency_keys WHERE caller = sha256(('user ' || $1)::bytea)";
    return (await api.app.nest.get(DataSource).query<{ count: number }[]>(text, [user]))[0].count;
  };

  it('is counted seldom far from the limit, and for each key near it, so that one process allows none too many', async () => {
    const { id, token } = await api.user();
    const counted: number[] = [];
    for (let key = 0; key < LIMIT; key++) {
      const ask = async () => expect(await post(api.as({ token }))).toBe(201);
      const statements = await statementsOf(ask);
      if (statements.some((text) => /count\(\*\).*idempotency_keys/s.test(text))) counted.push(key);
    }

    expectError(await api.as({ token }).post('/posts', body, { 'Idempotency-Key': randomUUID() }), 'TOO_MANY_REQUESTS');

    expect(counted.slice(0, 3)).toEqual([0, 3, 5]);
    expect(counted.filter((key) => key > LIMIT - 20)).toEqual(times(19, (index) => LIMIT - 19 + index));
    expect(await keysOf(id)).toBe(LIMIT);
  });

  it('exceeds the limit by a 20th at most for a second process, which has counted before', async () => {
    const { id, token } = await api.user();
    const [first, second] = [
      api.as({ token }),
      clientOf(() => `http://127.0.0.1:${other.port}`, { Authorization: `Bearer ${token}` }),
    ];
    expect(await post(second)).toBe(201);
    for (let key = 1; key < LIMIT; key++) expect(await post(first)).toBe(201);
    expect(await post(first)).toBe(429);

    for (let key = 0; key < PART; key++) expect(await post(second)).toBe(201);
    expect(await post(second)).toBe(429);

    expect(await keysOf(id)).toBe(LIMIT + PART);
  });
});
