import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countStatuses, expectError, times, waitFor } from '../../src/platform/testing';
import { Upload } from '../../src/uploads/upload.entity';
import { BuiltService } from '../support/built-service';
import { useTestApi } from '../support/test-api';
import { TusUser } from '../support/tus';

const MEBIBYTE = 1024 * 1024;
const SIZE = 96 * MEBIBYTE;
const FLOOR = 32 * MEBIBYTE;
/** Bytes that are made safe at once. */
const SEGMENT = 8 * MEBIBYTE;
/** What a file system needs for itself, and a chunk for each of a few writers. */
const TOLERANCE = MEBIBYTE;

/** A disk of its own in memory; undefined where nobody may mount one. */
function mountDisk(): string | undefined {
  const directory = mkdtempSync(join(process.env.TEST_DIRECTORY!, 'disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', directory]);
  if (status === 0) return directory;
  rmSync(directory, { recursive: true });
  return undefined;
}

const disk = mountDisk();
const free = () => {
  const { bavail, bsize } = statfsSync(disk!);
  return bavail * bsize;
};

const name = 'A small disk' + (disk ? '' : ' (not tested: only root may mount one)');
(disk ? describe : describe.skip)(name, () => {
  const settings = { DATA_DIR: disk!, MIN_FREE_DISK: String(FLOOR) };
  const api = useTestApi({ settings });
  const foreign = join(disk!, 'foreign');
  let own: TusUser;

  beforeEach(async () => {
    own = await TusUser.of(api);
  });

  afterEach(async () => {
    rmSync(foreign, { force: true });
    await api.repository(Upload).deleteAll();
    rmSync(join(disk!, 'uploads'), { recursive: true, force: true });
    mkdirSync(join(disk!, 'uploads'));
  });

  // Whatever is still open there.
  afterAll(() => void spawnSync('umount', ['-l', disk!]));

  it('is promised to uploads but once, whichever instance they come to', async () => {
    const other = await BuiltService.start({ ...settings, DATABASE_URL: api.app.databaseUrl });
    try {
      const users = await Promise.all(times(3, () => TusUser.of(api)));
      const there = (user: TusUser) =>
        fetch(`${other.url}/api/v1/uploads`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${user.user.token}`,
            'Tus-Resumable': '1.0.0',
            'Upload-Length': String(50 * MEBIBYTE),
          },
        });
      const answers = await Promise.all(
        users.flatMap((user) => [user.create(50 * MEBIBYTE), user.create(50 * MEBIBYTE), there(user)]),
      );
      expect(countStatuses(answers)).toEqual({ 201: 1, 507: 8 });
    } finally {
      await other.stop();
    }
  });

  it('has the room again of uploads that arrived, expired or were deleted', async () => {
    const expectFull = async () => expectError(await own.create(40 * MEBIBYTE), 'INSUFFICIENT_STORAGE');
    const path = await own.begin(40 * MEBIBYTE);
    await expectFull();
    expect((await own.client.delete(path)).status).toBe(204);

    const old = await own.begin(40 * MEBIBYTE);
    await expectFull();
    await api.repository(Upload).update({ key: old.split('/').at(-1)! }, { expires_at: new Date(0) });

    const arrived = await own.begin(40 * MEBIBYTE);
    expect((await own.append(arrived, 0, Buffer.alloc(40 * MEBIBYTE))).status).toBe(204);
    // What has come is not counted twice: as bytes on the disk, and as bytes still to come.
    expect((await own.create(23 * MEBIBYTE)).status).toBe(201);
    await expectFull();
  });

  it('that others are promised, who bring nothing, leaves a stranger as much as each of them could have', async () => {
    const greedy = await Promise.all(times(3, () => TusUser.of(api)));
    const promised = await Promise.all(greedy.map((user) => user.create(21 * MEBIBYTE)));
    expect(countStatuses(promised)).toEqual({ 201: 3 });
    const bytes = randomBytes(10 * MEBIBYTE);
    const path = await own.begin(bytes.length);
    expectError(await own.create(10 * MEBIBYTE), 'INSUFFICIENT_STORAGE');
    expectError(await greedy[0].create(5 * MEBIBYTE), 'INSUFFICIENT_STORAGE');

    expect((await own.append(path, 0, bytes)).status).toBe(204);
  });

  it('takes all that it has promised, from several at once', async () => {
    const bytes = times(4, () => randomBytes(15 * MEBIBYTE));
    const paths = await Promise.all(bytes.map(({ length }) => own.begin(length)));
    const answers = await Promise.all(paths.map((path, index) => own.append(path, 0, bytes[index])));
    expect(countStatuses(answers)).toEqual({ 204: 4 });
    expect(free()).toBeGreaterThan(FLOOR - TOLERANCE);
  });

  it.each([
    ['of bytes that count as they come', false],
    ['of bytes that count together', true],
  ])('that others fill ends a request %s before it is full, and what counted stays', async (_name, together) => {
    const bytes = randomBytes(48 * MEBIBYTE);
    const path = await own.begin(bytes.length);
    const checksum = `sha256 ${createHash('sha256').update(bytes).digest('base64')}`;
    const headers: Record<string, string> = together ? { 'Upload-Checksum': checksum } : {};
    const connection = await own.open(path, bytes.length, headers);
    connection.write(bytes.subarray(0, 10 * MEBIBYTE));
    await waitFor(() => SIZE - free() >= SEGMENT);
    let acknowledged = 0;
    if (!together) await waitFor(async () => (acknowledged = await own.offsetOf(path)) > 0);
    writeFileSync(foreign, Buffer.alloc(40 * MEBIBYTE));
    connection.write(bytes.subarray(10 * MEBIBYTE));
    expectError(await connection.answer(), 'INSUFFICIENT_STORAGE');
    connection.destroy();
    expect(free()).toBeGreaterThan(FLOOR - TOLERANCE);

    const offset = await own.offsetOf(path);
    expect(offset).toBeGreaterThanOrEqual(acknowledged);
    expectError(await own.create(1), 'INSUFFICIENT_STORAGE');
    rmSync(foreign);
    expect((await own.append(path, offset, bytes.subarray(offset))).status).toBe(204);
    const { data } = (await own.client.get(path)).body;
    expect(data.checksum).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('keeps its floor when many fill it at once with others', async () => {
    const [second, third] = [await TusUser.of(api), await TusUser.of(api)];
    const users = [own, own, second, second, third, third];
    const size = 10 * MEBIBYTE;
    const paths = await Promise.all(users.map((user) => user.begin(size)));
    // Less than what was promised is left.
    writeFileSync(foreign, Buffer.alloc(24 * MEBIBYTE));
    const answers = await Promise.all(paths.map((path, index) => users[index].append(path, 0, Buffer.alloc(size))));
    expect(countStatuses(answers)[507]).toBeGreaterThan(0);
    expect(free()).toBeGreaterThan(FLOOR - TOLERANCE);
    expect(existsSync(foreign)).toBe(true);
  });
});

describe('Uploads', () => {
  const api = useTestApi({ settings: { MIN_FREE_DISK: '0', UPLOAD_MAX_COUNT: '3', UPLOAD_EXPIRY: '2' } });

  it('of a user are so many, be they empty, and a deleted one makes room', async () => {
    const own = await TusUser.of(api);
    const answers = await Promise.all(times(8, () => own.create(0)));
    expect(countStatuses(answers)).toEqual({ 201: 3, 413: 5 });
    const { details } = expectError(await own.create(0, undefined), 'QUOTA_EXCEEDED');
    expect(details).toBe('You may have 3 uploads, and have as many; delete some');
    expect((await (await TusUser.of(api)).create(0)).status).toBe(201);

    expect(
      (await own.client.delete(`/uploads/${answers.find(({ status }) => status === 201)!.body.data.key}`)).status,
    ).toBe(204);
    expect((await own.create(0)).status).toBe(201);
  });

  it('end when their time is up, also in the middle of a request', async () => {
    const own = await TusUser.of(api);
    const path = await own.begin(64);
    const connection = await own.open(path, 64);
    connection.write('0123456789');
    // Bytes that come now and then keep the request going.
    const dripping = setInterval(() => connection.write('x'), 200);
    try {
      expectError(await connection.answer(), 'GONE');
    } finally {
      clearInterval(dripping);
      connection.destroy();
    }
    expectError(await own.append(path, 0, Buffer.from('0123456789')), 'GONE');
  });
});
