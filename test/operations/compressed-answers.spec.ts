import { randomBytes } from 'node:crypto';
import { compressing } from '../../src/platform/answers/compress-in-turn';
import { type Answer, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

/** Bodies that are compressed at once. */
const PLACES = 2;
const CROWD = 20;
/** Enough for a page that is made in several turns. */
const LARGE_TEXTS = 8;

describe('Compressed answers', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' } });
  let path: string;
  /** Frees the places that a test takes. */
  let free: () => void;
  let held: Promise<unknown>;

  beforeAll(async () => {
    const author = api.as(await api.user());
    for (const content of times(LARGE_TEXTS, () => randomBytes(24_000).toString('hex'))) {
      const { body } = await author.post('/posts', { title: 'Long', content });
      path = `/posts/${body.data.id}`;
    }
  });

  beforeEach(() => {
    const places = new Promise<void>((resolve) => (free = resolve));
    held = Promise.all(times(PLACES, (index) => compressing.run(() => places, undefined, [`held ${index}`, ''])));
  });
  afterEach(async () => {
    free();
    await held;
  });

  const ask = (network: number, asked = path, encoding = 'gzip') =>
    api.get(asked, { 'X-Forwarded-For': `10.0.${network}.1`, 'Accept-Encoding': encoding });

  it('of networks take turns: a stranger waits for a few of a crowd', async () => {
    const order: number[] = [];
    const asked = async (network: number): Promise<Answer> => {
      const answer = await ask(network);
      order.push(network);
      return answer;
    };
    const crowd = times(CROWD, () => asked(1));
    await waitFor(async () => (await ask(3, '/posts/1?fields=id')).status === 200);
    const stranger = asked(2);
    await ask(3, '/posts/1?fields=id');
    free();

    expect((await stranger).headers.get('content-encoding')).toBe('gzip');
    await Promise.all(crowd);
    expect(order.indexOf(2)).toBeLessThan(CROWD / 2);
  });

  it('that wait keep nothing else waiting: other answers, passwords, files, and large pages', async () => {
    const crowd = times(CROWD, () => ask(1));
    const user = await api.user();
    const { status } = await api.post('/auth/tokens', { username: user.username, password: user.password });
    const plain = await ask(2, path, 'identity');
    const large = await ask(2, `/posts?size=${LARGE_TEXTS}`);

    expect([status, plain.status, large.status]).toEqual([201, 200, 200]);
    expect([plain, large].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    free();
    for (const answer of await Promise.all(crowd)) expect(answer.headers.get('content-encoding')).toBe('gzip');
  });
});
