import { createHash, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Post } from '../../src/resources/posts/post.entity';
import { changeAfter, expectError, statementsOf, testRun } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const body = { title: 'A post', content: 'A text' };
const keyed = (key: string) => ({ 'Idempotency-Key': key });

describe('The messages of a request with a key to PostgreSQL', () => {
  const api = useTestApi();

  it('are three: its beginning with the look for the key, the write in a savepoint, and the answer with the COMMIT', async () => {
    const user = api.as(await api.user());
    // The first time for this caller, its keys are counted.
    await user.post('/posts', body, keyed('the first'));

    const sent = await statementsOf(() => user.post('/posts', body, keyed('the second')));

    const words = sent.map((text) => text.split('; ').map((one) => /^\w+ (?:INTO \S+|\S+)|^COMMIT$/.exec(one)?.[0]));
    const messages = [
      [
        'START TRANSACTION',
        "SELECT set_config('audit.context',",
        'SELECT pg_try_advisory_xact_lock($1)',
        'SELECT fingerprint,',
      ],
      ['SAVEPOINT mark_frame_1', 'INSERT INTO "posts"'],
      ['INSERT INTO idempotency_keys', 'SELECT require_writer($1::uuid,', 'COMMIT'],
    ];
    // A pooler gets each statement alone, and its own time limits in between.
    if (testRun().pooler) expect(words.flat().filter((word) => word !== 'SET LOCAL')).toEqual(messages.flat());
    else expect(words).toEqual(messages);
  });

  it('undo the write when the key was stored after the look for it, and the answer is 409 with Retry-After', async () => {
    const caller = await api.user();
    const [database, user, key] = [api.app.nest.get(DataSource), api.as(caller), randomUUID()];
    const id = createHash('sha256')
      .update(JSON.stringify([`user ${caller.id}`, key]))
      .digest();
    const storeFirst = () => database.query('INSERT INTO idempotency_keys (id, fingerprint) VALUES ($1, $1)', [id]);

    const refused = await changeAfter(/FROM idempotency_keys WHERE id/, storeFirst, () =>
      user.post('/posts', body, keyed(key)),
    );

    expectError(refused, 'CONFLICT');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await api.repository(Post).countBy({ user_id: caller.id })).toBe(0);
  });
});
