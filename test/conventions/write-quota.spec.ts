import { gzipSync } from 'node:zlib';
import { kibibytes, mebibytes } from '../../src/platform';
import { countStatuses, expectError, times, waitFor } from '../../src/platform/testing';
import { documentOf } from '../support/contract';
import { exampleOf, send } from '../support/documented-operation';
import { HeldRequest } from '../support/held-request';
import { toldBy } from '../support/openapi';
import { useTestApi } from '../support/test-api';

const WRITES = 8;
const QUOTA = kibibytes(WRITES);
const SHORT = { title: 'A post', content: 'A text' };
const LONG = { ...SHORT, content: 'x'.repeat(QUOTA) };

/** Without Redis, where users of other tests with the same ids count as well. */
const settings = { REDIS_URL: '', WRITE_QUOTA: String(QUOTA), TRUST_PROXY: '1' };
const GZIP = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
const isRefusal = (details: string) => details.includes('was written');
const at = (address: string) => ({ 'X-Forwarded-For': address });

describe('What one user may write in a day', () => {
  const api = useTestApi({ settings });
  const someone = async (address: string) => api.as(await api.user()).with(at(address));

  it('ends with 429 and Retry-After, before the body is read; reads, deletions and other users go on', async () => {
    const [user, neighbour] = [await someone('10.1.1.1'), await someone('10.1.1.1')];
    const first = await user.post('/posts', SHORT);
    const later = [];
    for (let count = 1; count < WRITES; count++) later.push((await user.post('/posts', SHORT)).status);
    expect([first.status, ...later]).toEqual(times(WRITES, () => 201));

    const path = `/posts/${first.body.data.id}`;
    const wrong = { nothing: 'right' };
    await waitFor(async () => (await user.post('/posts', wrong)).status === 429);
    const refused = await user.post('/posts', wrong);
    expectError(refused, 'TOO_MANY_REQUESTS');
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(24 * 3600);
    expect((await user.put(path, SHORT)).status).toBe(429);
    expect((await user.patch(path, { title: 'Changed' })).status).toBe(429);
    expect((await user.get(path)).status).toBe(200);
    expect((await user.delete(path)).status).toBe(204);
    expect((await neighbour.post('/posts', SHORT)).status).toBe(201);
  });

  it('counts bytes: one long text is as much as many short ones', async () => {
    const user = await someone('10.1.2.1');
    expect((await user.post('/posts', LONG)).status).toBe(201);
    await waitFor(async () => (await user.post('/posts', SHORT)).status === 429);
  });

  it('counts the bytes of a compressed body as they are after decompression', async () => {
    const user = await someone('10.1.3.1');
    expect((await user.post('/posts', gzipSync(JSON.stringify(LONG)), GZIP)).status).toBe(201);
    await waitFor(async () => (await user.post('/posts', SHORT)).status === 429);
  });

  it('counts for bodies too that come after their requests were admitted', async () => {
    const { token } = await api.user();
    const write = { body: LONG, headers: at('10.1.6.1') };
    const begun = times(4, () => HeldRequest.begin(api, token, 'POST /api/v1/posts', write, 'chunked'));
    const answers = [];
    for (const held of await Promise.all(begun)) answers.push((await held.finish()).status);
    expect(answers).toEqual([201, 429, 429, 429]);
  });

  it('is told by the routes that document it, and by no others', async () => {
    const user = await someone('10.1.5.1');
    await user.post('/posts', LONG);
    await waitFor(async () => (await user.post('/posts', SHORT)).status === 429);

    const document = documentOf('1');
    const writes = document.operations.filter(({ method }) => ['post', 'put', 'patch'].includes(method));
    const documented = writes.filter((one) => toldBy(document.response(one, 429)).some(isRefusal));
    const refused = [];
    for (const one of writes) {
      const { body } = await send(user, one, exampleOf(one));
      if (isRefusal(String(body.error?.details))) refused.push(one.name);
    }
    expect(documented.length).toBeGreaterThan(5);
    expect(refused).toEqual(documented.map(({ name }) => name));
  });

  it('is no limit for administrators', async () => {
    const admin = api.as(await api.admin()).with(at('10.1.4.1'));
    const answers = await Promise.all(times(3 * WRITES, () => admin.post('/posts', LONG)));
    expect(countStatuses(answers)).toEqual({ 201: 3 * WRITES });
  });
});

describe.each([
  ['an address', 4, () => '10.2.2.1', '10.2.2.1', '10.2.2.2'],
  ['a neighbourhood', 16, (user: number) => `10.2.4.${user}`, '10.2.4.99', '10.2.5.1'],
])('What the users of %s may write in a day', (_whose, users, addressOf, near, far) => {
  const api = useTestApi({ settings });

  it(`is as much as ${users} of them may, whatever the number of accounts`, async () => {
    // A long text is a little more than what one user may write.
    const writes = Math.ceil((users * QUOTA) / (kibibytes(1) + JSON.stringify(LONG).length));
    for (let number = 0; number < writes; number++) {
      const user = api.as(await api.user()).with(at(addressOf(number)));
      expect((await user.post('/posts', LONG)).status).toBe(201);
    }
    const another = api.as(await api.user());
    await waitFor(async () => (await another.with(at(near)).post('/posts', SHORT)).status === 429);
    expect((await another.with(at(far)).post('/posts', SHORT)).status).toBe(201);
  });
});

describe('Where the users of an address have written all they may', () => {
  const BODY = mebibytes(1) - kibibytes(1);
  const api = useTestApi({ settings: { ...settings, WRITE_QUOTA: String(mebibytes(4)) } });
  const from = async () => api.as(await api.user()).with(at('10.4.1.1'));

  it('each of them may write a little more, so that nobody keeps its neighbours from their accounts', async () => {
    const [neighbour, another] = [await from(), await from()];
    for (const user of [await from(), await from(), await from(), await from()]) {
      for (let count = 0; count < 4; count++) {
        expect((await user.post('/posts', `{"content":"${'x'.repeat(BODY - 14)}"}`)).status).toBe(400);
      }
    }
    await waitFor(async () => (await (await from()).post('/posts', LONG)).status === 429);

    expect((await neighbour.post('/posts', LONG)).status).toBe(429);
    for (let count = 0; count < 3; count++) expect((await neighbour.post('/posts', SHORT)).status).toBe(201);
    expect((await neighbour.post('/posts', SHORT)).status).toBe(429);
    expect((await another.post('/posts', SHORT)).status).toBe(201);
  });
});

describe('The window in which writes count', () => {
  const api = useTestApi({ settings: { ...settings, WRITE_WINDOW: '2' } });

  it('ends: the user writes again', async () => {
    const user = api.as(await api.user()).with(at('10.3.1.1'));
    await user.post('/posts', LONG);
    await waitFor(async () => (await user.post('/posts', SHORT)).status === 429);
    await waitFor(async () => (await user.post('/posts', SHORT)).status === 201);
  });
});
