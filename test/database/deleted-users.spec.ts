import { query } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const PRESENT = 1_000;
const DELETED = 20_000;

interface Plan {
  'Rows Removed by Filter'?: number;
  'Actual Rows': number;
  Plans?: Plan[];
}

const removed = (plan: Plan): number =>
  (plan['Rows Removed by Filter'] ?? 0) + (plan.Plans ?? []).reduce((sum, inner) => sum + removed(inner), 0);

describe('Deleted users', () => {
  const api = useTestApi({ settings: { API_DOCS: 'false' } });

  it('cost no list anything, however many have the highest ids', async () => {
    const { databaseUrl } = api.app;
    await query(
      databaseUrl,
      `INSERT INTO users (username, email, username_key, email_key, deleted_at)
       SELECT 'user ' || n, n || '@example.org', 'user ' || n, n || '@example.org', CASE WHEN n > ${PRESENT} THEN now() END
       FROM generate_series(1, ${PRESENT + DELETED}) AS n`,
    );
    await query(databaseUrl, 'ANALYZE users');

    const statement = 'SELECT * FROM users WHERE deleted_at IS NULL ORDER BY id DESC LIMIT 20 OFFSET 100';
    const [row] = await query(databaseUrl, `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`);
    const [{ Plan: plan }] = row['QUERY PLAN'] as [{ Plan: Plan }];
    expect([plan['Actual Rows'], removed(plan)]).toEqual([20, 0]);
  });
});
