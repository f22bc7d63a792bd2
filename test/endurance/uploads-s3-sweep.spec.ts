import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { expectError } from '../../src/platform/testing';
import { ByteStore } from '../../src/uploads/bytes/byte-store';
import { holderOf } from '../../src/uploads/fair-slots';
import { Upload } from '../../src/uploads/upload.entity';
import { useBucketApi } from '../support/bucket-api';
import { describeWithS3 } from '../support/s3-server';
import type { TestUser } from '../support/test-api';
import { keyOf, MEBIBYTE, sha256, uploading } from '../support/uploading';

/** The size of a part of each upload. */
const PART = 8 * MEBIBYTE;

describeWithS3('An old upload in a bucket', () => {
  const api = useBucketApi({ MIN_FREE_DISK: '0' });
  let store: ByteStore;
  let owner: TestUser;

  beforeAll(() => (store = api.app.nest.get(ByteStore, { strict: false })));
  beforeEach(async () => (owner = await api.user()));

  const { begin, append, download } = uploading(api, () => owner);

  it('stays when it is finished while a sweep looks for its bytes', async () => {
    const bytes = randomBytes(5);
    const path = await begin(bytes.length);
    await api.age(path);
    const look = jest.spyOn(store, 'offsetOf').mockImplementationOnce(async (key, acknowledged) => {
      expect([key, acknowledged]).toEqual([keyOf(path), 0]);
      expect((await append(path, 0, bytes)).status).toBe(204);
      return store.offsetOf(key, acknowledged);
    });

    await api.sweep();
    expect(look).toHaveBeenCalled();
    expect(Buffer.from(await (await download(path)).arrayBuffer())).toEqual(bytes);
  });

  it('goes with its parts when its time is up', async () => {
    const path = await begin(2 * PART);
    await append(path, 0, randomBytes(PART + 5));
    await api.repository(Upload).update({ key: keyOf(path) }, { expires_at: new Date(Date.now() - 1_000) });

    await api.sweep();
    expect(await api.leftOf(path)).toEqual([]);
  });

  it('is found in the bucket without its row, whatever a crash has left of it', async () => {
    const path = await begin(2 * PART);
    await append(path, 0, randomBytes(PART + 5));
    // As after a crash before anything was written about the multipart upload.
    const bare = keyOf(await begin(5));
    await fetch(`${api.s3.url}/${api.bucket}/${bare}.info`, { method: 'DELETE' });
    await fetch(`${api.s3.url}/${api.bucket}/somebody-else`, { method: 'PUT', body: 'x' });
    const young = await begin(1);
    await append(young, 0, randomBytes(1));
    const keysBefore = async (moment: number) => {
      const keys: string[] = [];
      for await (const key of store.keysBefore(new Date(moment))) keys.push(key);
      return keys;
    };

    expect(await keysBefore(Date.now() - 60_000)).not.toContain(keyOf(young));
    const keys = await keysBefore(Date.now() + 60_000);
    expect(keys).toEqual(expect.arrayContaining([keyOf(path), keyOf(young), bare]));
    expect(keys.join()).not.toContain('somebody');
    for (const key of keys) await store.remove(key);
    expect(await api.s3.objects(api.bucket)).toEqual(['somebody-else']);
    expect(await api.s3.multiparts(api.bucket)).toEqual([]);
    expectError(await append(path, PART + 5, randomBytes(5)), 'GONE');
  });

  it('keeps what a later writer has brought, when one that has lost its lock writes after it', async () => {
    const bytes = randomBytes(2 * PART);
    const path = await begin(bytes.length);
    const holder = holderOf(owner.id, {});
    const late = [0, PART + 10];
    const ends = [20, PART + 10, PART + 20];
    let offset = 0;
    for (const end of ends) {
      expect((await append(path, offset, bytes.subarray(offset, end))).status).toBe(204);
      for (const start of late.filter((start) => start <= offset)) {
        await store.append(keyOf(path), start, Readable.from([bytes.subarray(start, start + 5)]), 5, holder);
      }
      offset = end;
    }
    expect((await append(path, offset, bytes.subarray(offset))).status).toBe(204);

    expect(sha256(Buffer.from(await (await download(path)).arrayBuffer()))).toBe(sha256(bytes));
    expect(await api.leftOf(path)).toEqual(['*']);
  });

  it('takes little more than its size', async () => {
    const bytes = randomBytes(PART + 60);
    const path = await begin(bytes.length);
    for (let offset = 0; offset < 50; offset += 10) await append(path, offset, bytes.subarray(offset, offset + 10));
    expect(await api.leftOf(path)).toEqual(expect.arrayContaining(['*.40.part', '*.50.part']));
    expect(await api.leftOf(path)).toHaveLength(4);
    await append(path, 50, bytes.subarray(50, PART + 50));
    await append(path, PART + 50, bytes.subarray(PART + 50, PART + 55));
    expect(await api.leftOf(path)).toEqual(expect.arrayContaining([`*.${PART + 50}.part`, `*.${PART + 55}.part`]));
    expect(await api.leftOf(path)).toHaveLength(4);
  });
});
