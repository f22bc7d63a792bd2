import type { Request } from 'express';
import { type Client, expectError, times, waitFor } from '../../src/platform/testing';
import { LinkSeal } from '../../src/uploads/links/link-seal';
import { UploadContent } from '../../src/uploads/upload-content';
import { PICTURE } from '../support/pictures';
import { type TestUser, useTestApi } from '../support/test-api';
import { keyOf, sha256, uploading } from '../support/uploading';

/** The downloads of each user, and of the strangers of each network. */
const DOWNLOADS = 4;

describe('A public upload', () => {
  const api = useTestApi({
    settings: { MIN_FREE_DISK: '0', UPLOAD_MAX_OPEN_PER_USER: String(DOWNLOADS / 4), TRUST_PROXY: '1' },
  });
  let owner: TestUser;
  let own: Client;

  beforeEach(async () => {
    owner = await api.user();
    own = api.as(owner);
  });

  const { begin, uploaded } = uploading(api, () => owner);
  const change = (path: string, visibility: string, headers?: Record<string, string>, client = own) =>
    client.put(`${path}/visibility`, { visibility }, headers);
  const load = (path: string, headers?: Record<string, string>) =>
    fetch(`${api.url}/api/v1${path}/content`, { headers });

  it('is private at first, and says so', async () => {
    const path = await uploaded(PICTURE);
    expect((await own.get(path)).body.data.visibility).toBe('PRIVATE');
    expectError(await api.get(`${path}/content`), 'UNAUTHORIZED');
    const answer = await own.get(`${path}/content`);
    const headers = ['cache-control', 'cross-origin-resource-policy'].map((name) => answer.headers.get(name));
    expect(headers).toEqual(['no-store', 'same-origin']);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/);
  });

  it('has content for everybody, which caches keep for a minute, and attributes for its owner', async () => {
    const path = await uploaded(PICTURE, { filename: 'a.png' });
    const { status, body } = await change(path, 'PUBLIC');
    expect([status, body.data.visibility]).toEqual([200, 'PUBLIC']);
    const other = await api.user();
    const known = { Authorization: `Bearer ${other.token}` };
    for (const [headers, cached] of [
      [undefined, 'public, max-age=60, must-revalidate'],
      [known, 'no-store'],
    ] as const) {
      const answer = await load(path, headers);
      expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, PICTURE]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': cached,
        'content-disposition': 'inline; filename="a.png"',
        'content-security-policy': "sandbox; default-src 'none'",
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      });
    }
    const same = await load(path, { 'If-None-Match': `"${sha256(PICTURE)}"` });
    expect([same.status, same.headers.get('cache-control')]).toEqual([304, 'public, max-age=60, must-revalidate']);
    expectError(await api.get(path), 'UNAUTHORIZED');
    expectError(await api.as(other).get(path), 'FORBIDDEN');
    expect((await api.as(other).get('/uploads')).body.data).toEqual([]);
  });

  it('is 401 at once when it is private again, even for who knows its entity tag', async () => {
    const path = await uploaded(PICTURE);
    await change(path, 'PUBLIC');
    expect((await load(path)).status).toBe(200);
    await change(path, 'PRIVATE');
    expect((await load(path)).status).toBe(401);
    expect((await load(path, { 'If-None-Match': `"${sha256(PICTURE)}"` })).status).toBe(401);
    expect((await load(path, { Authorization: `Bearer ${(await api.user()).token}` })).status).toBe(403);
  });

  it('answers the same 401 to strangers whether it is private, unfinished, deleted or never was', async () => {
    const deleted = await uploaded(PICTURE);
    await own.delete(deleted);
    const paths = [await uploaded(PICTURE), await begin(5), deleted, '/uploads/3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11'];
    const answers = await Promise.all(paths.map((path) => api.get(`${path}/content`)));
    const said = answers.map(({ status, body }) => [status, body.error.message, body.error.details]);
    expect(new Set(said.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(said[0][0]).toBe(401);
  });

  it('is made so by its owner or an administrator, in the version that the writer has seen', async () => {
    const path = await uploaded(PICTURE);
    const tag = (await own.get(path)).headers.get('etag')!;
    expectError(await change(path, 'PUBLIC', {}, api), 'UNAUTHORIZED');
    expectError(await change(path, 'PUBLIC', {}, api.as(await api.user())), 'FORBIDDEN');
    expectError(await change(path, 'SHARED'), 'VALIDATION_ERROR');
    expectError(await change(path, 'PUBLIC', { 'If-Match': '"99"' }), 'PRECONDITION_FAILED');
    const changed = await change(path, 'PUBLIC', { 'If-Match': tag });
    expect(changed.headers.get('etag')).not.toBe(tag);
    expectError(await change(path, 'PRIVATE', { 'If-Match': tag }), 'PRECONDITION_FAILED');
    expect((await change(path, 'PUBLIC')).headers.get('etag')).toBe(changed.headers.get('etag'));
    expect((await change(path, 'PRIVATE', {}, api.as(await api.admin()))).body.data.visibility).toBe('PRIVATE');
  });

  it('has no content before it is complete, and goes on meanwhile', async () => {
    const path = await begin(PICTURE.length);
    expect((await change(path, 'PUBLIC')).status).toBe(200);
    expect((await load(path)).status).toBe(409);
    const headers = {
      'Tus-Resumable': '1.0.0',
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': '0',
    };
    expect((await own.patch(path, PICTURE, headers)).status).toBe(204);
    expect((await load(path)).headers.get('content-type')).toBe('image/png');
  });

  describe('whose readers are strangers', () => {
    const from = (network: number) => ({ 'X-Forwarded-For': `10.0.${network}.1` });
    /** Keeps all places of the strangers of an address, until the function that it returns is called. */
    function hold(address: string): () => Promise<unknown> {
      const admission = api.app.nest.get(UploadContent)['admission'];
      let free = () => undefined as void;
      const freed = new Promise<void>((resolve) => (free = resolve));
      const held = times(DOWNLOADS, () => admission.during(address, { ip: address } as Request, () => freed));
      return () => (free(), Promise.all(held));
    }
    const isWaiting = () => api.app.nest.get(UploadContent)['admission']['queue'].size === 1;

    it('has a limited number of downloads for each network, by links too, and none of it is another’s', async () => {
      const path = await uploaded(PICTURE);
      await change(path, 'PUBLIC');
      const link = api.app.nest.get(LinkSeal).seal(keyOf(path), Math.floor(Date.now() / 1_000) + 60);
      const free = hold('10.0.1.1');

      const [full, linked, other, ofUser] = await Promise.all([
        load(path, from(1)),
        fetch(`${api.url}/api/v1${path}/links/${link}`, { headers: from(1) }),
        load(path, from(2)),
        load(path, { ...from(1), Authorization: `Bearer ${owner.token}` }),
      ]);
      expect([full.status, linked.status, other.status, ofUser.status]).toEqual([429, 429, 200, 200]);
      expect([full.headers.get('retry-after'), full.headers.get('cache-control')]).toEqual(['1', 'no-store']);
      await free();
    });

    it('isn’t sent to a reader who waits for a place while it is made private', async () => {
      const path = await uploaded(PICTURE);
      await change(path, 'PUBLIC');
      const free = hold('10.0.3.1');
      const waiting = load(path, from(3));
      await waitFor(isWaiting);
      await change(path, 'PRIVATE');
      await free();
      expect((await waiting).status).toBe(401);
    });
  });
});
