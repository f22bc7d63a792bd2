import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSHA256 } from 'hash-wasm';
import { Upload as TusClient } from 'tus-js-client';
import { type Client, expectError, waitFor } from '../../src/platform/testing';
import { Upload, UploadStatus } from '../../src/uploads/upload.entity';
import { useBucketApi } from '../support/bucket-api';
import { BuiltService } from '../support/built-service';
import { describeWithS3 } from '../support/s3-server';
import { clientOf, type TestUser } from '../support/test-api';
import { CHUNK, TUS } from '../support/tus';
import { keyOf, MEBIBYTE, sha256, uploading } from '../support/uploading';

/** The size of a part of each upload. */
const PART = 8 * MEBIBYTE;
const LIMITS = { MIN_FREE_DISK: '0' };

describeWithS3('An upload into a bucket', () => {
  const api = useBucketApi(LIMITS);
  let owner: TestUser;
  let own: Client;

  beforeEach(async () => {
    owner = await api.user();
    own = api.as(owner);
  });

  const { begin, append, download } = uploading(api, () => owner);

  /** Another instance, in a process of its own. */
  const startService = () =>
    BuiltService.start({
      ...LIMITS,
      ...api.s3.settings(api.bucket),
      DATABASE_URL: api.app.databaseUrl,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    });
  const offsetOf = async (path: string) => Number((await own.head(path, TUS)).headers.get('upload-offset'));

  async function expectContent(path: string, bytes: Uint8Array): Promise<void> {
    const { data } = (await own.get(path)).body;
    expect(data).toMatchObject({ status: 'COMPLETE', offset: bytes.length, checksum: sha256(bytes) });
    expect(sha256(Buffer.from(await (await download(path)).arrayBuffer()))).toBe(sha256(bytes));
  }

  it('is sent in pieces that are no parts by a client of the protocol, and comes back as it was', async () => {
    const bytes = randomBytes(2 * PART + MEBIBYTE + 17);
    const url = await new Promise<string>((resolve, reject) => {
      const client = new TusClient(bytes, {
        endpoint: `${api.url}/api/v1/uploads`,
        chunkSize: 3 * MEBIBYTE + 1,
        headers: { Authorization: `Bearer ${owner.token}` },
        metadata: { filename: 'Größe.bin' },
        onSuccess: () => resolve(client.url!),
        onError: reject,
      });
      client.start();
    });
    const path = new URL(url).pathname.replace('/api/v1', '');

    await expectContent(path, bytes);
    expect(await api.leftOf(path)).toEqual(['*']);
  });

  it.each([0, 1, PART, 2 * PART])('may have %i bytes', async (length) => {
    const bytes = randomBytes(length);
    const path = await begin(length);
    if (length > 0) expect((await append(path, 0, bytes)).status).toBe(204);

    await expectContent(path, bytes);
    expect(await api.leftOf(path)).toEqual(['*']);
  });

  it('goes on at any instance', async () => {
    const service = await startService();
    const other = clientOf(() => service.url, { Authorization: `Bearer ${owner.token}` });
    try {
      const bytes = randomBytes(2 * PART + 5);
      const path = await begin(bytes.length);
      const ends = [3 * MEBIBYTE, PART - 1, PART + 1, PART + 2 * MEBIBYTE, 2 * PART, bytes.length];
      let offset = 0;
      for (const [index, end] of ends.entries()) {
        const client = index % 2 === 0 ? own : other;
        expect((await append(path, offset, bytes.subarray(offset, end), {}, client)).status).toBe(204);
        offset = end;
      }
      await expectContent(path, bytes);
    } finally {
      await service.stop();
    }
  });

  it('keeps what was acknowledged when the storage goes away in the middle', async () => {
    const bytes = randomBytes(3 * PART);
    const path = await begin(bytes.length);
    const start = MEBIBYTE + 1;
    expect((await append(path, 0, bytes.subarray(0, start))).status).toBe(204);

    async function* slowly() {
      for (let at = start; at < bytes.length; at += MEBIBYTE) {
        if (at === PART + 3 * MEBIBYTE + 1) {
          // The next part is on its way.
          await waitFor(async () => (await offsetOf(path)) === PART);
          api.proxy.refuse();
        }
        yield bytes.subarray(at, Math.min(at + MEBIBYTE, bytes.length));
        await sleep(20);
      }
    }
    const broken = await fetch(`${api.url}/api/v1${path}`, {
      method: 'PATCH',
      headers: { ...CHUNK, Authorization: `Bearer ${owner.token}`, 'Upload-Offset': String(start) },
      body: Readable.toWeb(Readable.from(slowly())) as BodyInit,
      duplex: 'half',
    } as RequestInit);
    api.proxy.accept();

    expect(broken.status).toBe(503);
    const offset = await offsetOf(path);
    expect(offset).toBe(PART);
    expect((await append(path, offset, bytes.subarray(offset))).status).toBe(204);
    await expectContent(path, bytes);
  });

  it('counts bytes that have a checksum only when they have it, however many parts they are', async () => {
    const bytes = randomBytes(2 * PART + 7);
    const path = await begin(bytes.length);
    const start = 2 * MEBIBYTE;
    expect((await append(path, 0, bytes.subarray(0, start))).status).toBe(204);
    const rest = bytes.subarray(start);
    const damaged = Buffer.from(rest);
    damaged[100] ^= 1;
    const checksum = { 'Upload-Checksum': `sha256 ${sha256(rest, 'base64')}` };

    expectError(await append(path, start, damaged, checksum), 'CHECKSUM_MISMATCH');
    expect(await offsetOf(path)).toBe(start);
    expect((await append(path, start, rest, checksum)).status).toBe(204);
    await expectContent(path, bytes);
  });

  it.each([
    ['at its beginning', 0, 3],
    ['behind a part', PART, PART + 3],
  ])('is finished by whoever asks next, when a crash came before its row said so, %s', async (_where, offset, size) => {
    const bytes = randomBytes(size);
    const path = await begin(bytes.length);
    expect((await append(path, 0, bytes)).status).toBe(204);
    const hasher = (await createSHA256()).update(bytes);
    const before = {
      offset,
      status: UploadStatus.UPLOADING,
      checksum: null,
      expires_at: new Date(Date.now() + 1e6),
    };
    const announced = { next_offset: bytes.length, next_hash_state: Buffer.from(hasher.save()) };
    await api.repository(Upload).update({ key: keyOf(path) }, { ...before, ...announced });

    await api.age(path);
    const logged = api.app.log.length;
    await api.sweep();
    expect(JSON.stringify(api.app.log.slice(logged))).not.toContain(keyOf(path));
    expect(await offsetOf(path)).toBe(offset);
    expectError(await append(path, offset, bytes.subarray(offset)), 'CONFLICT');
    expect(await offsetOf(path)).toBe(bytes.length);
    await expectContent(path, bytes);
  });

  it('is given back in ranges', async () => {
    const bytes = randomBytes(PART + 100);
    const path = await begin(bytes.length);
    await append(path, 0, bytes);

    const answer = await download(path, { Range: `bytes=${PART - 10}-${PART + 9}` });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${PART - 10}-${PART + 9}/${bytes.length}`);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes.subarray(PART - 10, PART + 10));
    const tail = await download(path, { Range: 'bytes=-5' });
    expect(Buffer.from(await tail.arrayBuffer())).toEqual(bytes.subarray(-5));
    expect((await download(path, { Range: 'bytes=999999999-' })).status).toBe(416);
  });

  it('is what its bytes say', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
    const path = await begin(png.length);
    await append(path, 0, png);

    expect((await own.get(path)).body.data.media_type).toBe('image/png');
    expect((await download(path)).headers.get('content-type')).toBe('image/png');
  });

  it('leaves nothing when it is deleted, complete or not', async () => {
    const complete = await begin(5);
    await append(complete, 0, randomBytes(5));
    const unfinished = await begin(3 * PART);
    await append(unfinished, 0, randomBytes(PART + 5));
    expect(await api.leftOf(unfinished)).toEqual(
      expect.arrayContaining(['*.info', `*.${PART + 5}.part`, '* (multipart)']),
    );

    for (const path of [complete, unfinished]) {
      expect((await own.delete(path)).status).toBe(204);
      expect(await api.leftOf(path)).toEqual([]);
    }
  });

  it('loses nothing that was acknowledged when its service is killed in the middle of a part', async () => {
    const bytes = randomBytes(4 * PART + 11);
    const path = await begin(bytes.length);
    const url = `/api/v1${path}`;
    const headers = { ...TUS, Authorization: `Bearer ${owner.token}` };
    async function* from(offset: number) {
      for (let at = offset; at < bytes.length; at += MEBIBYTE / 4) {
        yield bytes.subarray(at, Math.min(at + MEBIBYTE / 4, bytes.length));
        await sleep(4);
      }
    }
    const send = (service: BuiltService, offset: number) =>
      fetch(service.url + url, {
        method: 'PATCH',
        headers: { ...headers, ...CHUNK, 'Upload-Offset': String(offset) },
        body: Readable.toWeb(Readable.from(from(offset))) as BodyInit,
        duplex: 'half',
      } as RequestInit).catch(() => undefined);

    // Not at the beginning of a part.
    let offset = MEBIBYTE + 1;
    expect((await append(path, 0, bytes.subarray(0, offset))).status).toBe(204);
    let service = await startService();
    for (const patience of [60, 250, 450]) {
      const sending = send(service, offset);
      await sleep(patience);
      await service.stop();
      await sending;
      service = await startService();
      const now = await offsetOf(path);
      expect(now).toBeGreaterThanOrEqual(offset);
      offset = now;
    }
    if (offset < bytes.length) expect((await send(service, offset))?.status).toBe(204);
    await service.stop();
    await expectContent(path, bytes);
  }, 120_000);

  it('says no secret in its log', () => {
    expect(JSON.stringify(api.app.log)).not.toContain(api.settings.S3_SECRET_ACCESS_KEY);
  });
});
