import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Client,
  countStatuses,
  expectError,
  query,
  RawConnection,
  times,
  waitFor,
} from '../../src/platform/testing';
import { UploadLocks } from '../../src/uploads/locks/upload-locks';
import { UploadSweep } from '../../src/uploads/upload-sweep';
import { Upload } from '../../src/uploads/upload.entity';
import { type TestUser, useTestApi } from '../support/test-api';
import { isLocked } from '../support/upload-lock';
import { fileOf, keyOf, MEBIBYTE, sha256, uploading } from '../support/uploading';
import { TUS } from '../support/tus';

describe('An upload', () => {
  const api = useTestApi({
    settings: { MAX_UPLOAD_SIZE: String(64 * MEBIBYTE), UPLOAD_QUOTA: String(96 * MEBIBYTE), MIN_FREE_DISK: '0' },
  });
  let owner: TestUser;
  let own: Client;

  beforeEach(async () => {
    owner = await api.user();
    own = api.as(owner);
  });

  const { create, begin, append, uploaded, download } = uploading(api, () => owner);

  it('is deleted with its bytes, if it hasn’t changed', async () => {
    const path = await uploaded(Buffer.from('bytes'));
    const file = join(process.env.TEST_DIRECTORY!, 'uploads');
    expect(readdirSync(file)).toContain(path.split('/').at(-1));
    expectError(await own.delete(path, undefined, { 'If-Match': '"99"' }), 'PRECONDITION_FAILED');
    expect(
      (await own.delete(path, undefined, { ...TUS, 'If-Match': (await own.get(path)).headers.get('etag')! })).status,
    ).toBe(204);
    expect(readdirSync(file)).not.toContain(path.split('/').at(-1));
    expectError(await own.get(path), 'NOT_FOUND');
    expectError(await append(path, 0, Buffer.from('x')), 'NOT_FOUND');
  });

  it('has room in the quota, however many begin at once', async () => {
    const answers = await Promise.all(times(8, () => create(20 * MEBIBYTE)));
    expect(countStatuses(answers)).toEqual({ 201: 4, 413: 4 });
    const refused = answers.find(({ status }) => status === 413)!;
    const { details } = expectError(refused, 'QUOTA_EXCEEDED');
    expect(details).toContain(`have ${80 * MEBIBYTE} bytes, and may have ${96 * MEBIBYTE};`);
    await own.delete(`/uploads/${answers.find(({ status }) => status === 201)!.body.data.key}`);
    expect((await create(20 * MEBIBYTE)).status).toBe(201);
  });

  it('is written by one at a time', async () => {
    const bytes = randomBytes(4 * MEBIBYTE);
    const path = await begin(bytes.length);
    const connection = await RawConnection.open(api.app.port);
    connection.write(
      `PATCH /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n` +
        `Content-Type: application/offset+octet-stream\r\nContent-Length: ${bytes.length}\r\n\r\nabc`,
    );
    await waitFor(() => isLocked(api, path));
    expectError(await append(path, 0, bytes), 'LOCKED');
    expectError(await own.delete(path), 'LOCKED');

    // Its client goes away: what had come counts, and the other may go on at once.
    connection.destroy();
    const offset = async () => (await own.head(path)).headers.get('upload-offset');
    await waitFor(async () => (await offset()) === '3');
    expect((await append(path, 3, bytes.subarray(3))).status).toBe(204);
    const expected = Buffer.concat([Buffer.from('abc'), bytes.subarray(3)]);
    expect((await own.get(path)).body.data.checksum).toBe(sha256(expected));
  });

  it('goes when it isn’t finished in time', async () => {
    const path = await begin(10);
    const key = path.split('/').at(-1)!;
    await api.repository(Upload).update({ key }, { expires_at: new Date(Date.now() - 1_000) });
    expectError(await own.get(path), 'GONE');
    expectError(await append(path, 0, Buffer.from('hello')), 'GONE');

    await api.app.nest.get(UploadSweep, { strict: false }).sweep();
    expectError(await own.get(path), 'NOT_FOUND');
    expect(readdirSync(join(process.env.TEST_DIRECTORY!, 'uploads'))).not.toContain(key);
  });

  it('stays when it is finished before a sweep, which found it late, has its lock', async () => {
    const path = await begin(5);
    const at = (expires_at: Date) => api.repository(Upload).update({ key: keyOf(path) }, { expires_at });
    await at(new Date(Date.now() - 1_000));
    const locks = api.app.nest.get(UploadLocks, { strict: false });
    const during = locks.during.bind(locks);
    const taking = jest.spyOn(locks, 'during').mockImplementation(async (key, work) => {
      if (key !== keyOf(path)) return during(key, work);
      // As a writer does that had begun in time.
      await at(new Date(Date.now() + 1e6));
      expect((await append(path, 0, Buffer.from('hello'))).status).toBe(204);
      return during(key, work);
    });
    await api.app.nest.get(UploadSweep, { strict: false }).sweep();
    expect(taking).toHaveBeenCalledWith(keyOf(path), expect.anything());
    taking.mockRestore();

    expect(await (await download(path)).text()).toBe('hello');
  });

  it('leaves nothing behind when the service ended in the middle of its creation', async () => {
    const [unborn, young, begun] = [await begin(10), await begin(10), await begin(10)];
    await append(begun, 0, Buffer.from('hello'));
    const long = new Date(Date.now() - 2 * 60 * 60 * 1_000);
    const orphans = times(2, () => `/uploads/${randomUUID()}`);
    for (const path of orphans) writeFileSync(fileOf(path), 'bytes');
    utimesSync(fileOf(orphans[0]), long, long);
    for (const path of [unborn, young, begun]) rmSync(fileOf(path));
    for (const path of [unborn, begun]) {
      await query(api.app.databaseUrl, 'UPDATE uploads SET created_at = $1 WHERE key = $2', [long, keyOf(path)]);
    }
    const whole = await uploaded(Buffer.from('whole'));
    utimesSync(fileOf(whole), long, long);
    const before = api.app.log.length;
    await api.app.nest.get(UploadSweep, { strict: false }).sweep();

    // What is young may get its other half yet.
    expect(orphans.map((path) => existsSync(fileOf(path)))).toEqual([false, true]);
    expect(await (await download(whole)).text()).toBe('whole');
    expectError(await own.get(unborn), 'NOT_FOUND');
    expect((await own.get(young)).status).toBe(200);
    // Bytes of it are lost, which is nothing to be swept under the carpet.
    expect((await own.get(begun)).status).toBe(200);
    expect(api.app.log.slice(before)).toContainEqual(expect.objectContaining({ level: 50, upload: keyOf(begun) }));
  });

  it('tells what is spoken here', async () => {
    const { status, headers } = await api.options('/uploads');
    expect([status, Object.fromEntries(headers)]).toEqual([
      204,
      expect.objectContaining({
        'tus-version': '1.0.0',
        'tus-extension': 'creation,creation-with-upload,expiration,checksum,termination',
        'tus-max-size': String(64 * MEBIBYTE),
        'tus-checksum-algorithm': 'sha1,sha256',
      }),
    ]);
  });
});
