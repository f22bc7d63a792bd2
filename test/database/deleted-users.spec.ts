import { query } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const PRESENT = 1_000;
const DELETED = 20_000;

interface Plan {
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  'Actual Rows': number;
  Plans?: Plan[];
}

const removed = (plan: Plan): number =>
  (plan['Rows Removed by Filter'] ?? 0) + (plan.Plans ?? []).reduce((sum, inner) => sum + removed(inner), 0);

const used = (plan: Plan): (string | undefined)[] => [plan['Index Name'], ...(plan.Plans ?? []).flatMap(used)];

describe('Deleted users', () => {
  const api = useTestApi({ settings: { API_DOCS: 'false' } });

  const present = 'deleted_at IS NULL ORDER BY id DESC';
  const deleted = 'deleted_at IS NOT NULL';
  const since = `${deleted} AND updated_at >= '2020-01-01T00:00:00Z'`;

  beforeAll(async () => {
    const { databaseUrl } = api.app;
    await query(
      databaseUrl,
      `INSERT INTO users (username, email, username_key, email_key, deleted_at)
       SELECT 'user ' || n, n || '@example.org', 'user ' || n, n || '@example.org', CASE WHEN n > ${PRESENT} THEN now() END
       FROM generate_series(1, ${PRESENT + DELETED}) AS n`,
    );
    await query(databaseUrl, 'ANALYZE users');
  });

  it.each([
    ['cost no list anything, however many have the highest ids', present, []],
    ['are found by their ids', `${deleted} ORDER BY id`, ['users_deleted']],
    ['are found by their last change', `${since} ORDER BY updated_at, id`, ['users_deleted_since']],
  ])('%s', async (_, rows, indexes) => {
    const statement = `SELECT * FROM users WHERE ${rows} LIMIT 20 OFFSET 100`;
    const [row] = await query(api.app.databaseUrl, `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`);
    const [{ Plan: plan }] = row['QUERY PLAN'] as [{ Plan: Plan }];
    expect([plan['Actual Rows'], removed(plan)]).toEqual([20, 0]);
    expect(used(plan)).toEqual(expect.arrayContaining(indexes));
  });
});
