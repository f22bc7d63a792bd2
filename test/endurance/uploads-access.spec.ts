import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import { type ErrorCode, Role } from '../../src/platform';
import { expectError, query, times, waitFor } from '../../src/platform/testing';
import { User, UserStatus } from '../../src/resources/users/user.entity';
import { UploadContent } from '../../src/uploads/upload-content';
import { type TestUser, useTestApi } from '../support/test-api';
import { TusUser } from '../support/tus';
import { isLocked } from '../support/upload-lock';

const MEBIBYTE = 1024 * 1024;
/** Bytes that are acknowledged at once. */
const SEGMENT = 8 * MEBIBYTE;
const SIZE = 24 * MEBIBYTE;

const endSessions = (url: string, { id }: TestUser) => query(url, 'DELETE FROM sessions WHERE user_id = $1', [id]);

/** What may happen to a caller while its bytes are on their way. */
const EVENTS: [string, (api: ReturnType<typeof useTestApi>, user: TestUser) => Promise<unknown>, ErrorCode][] = [
  ['whose session ends', (api, user) => endSessions(api.app.databaseUrl, user), 'UNAUTHORIZED'],
  [
    'who is suspended',
    (api, { id }) => api.repository(User).update({ id }, { status: UserStatus.SUSPENDED }),
    'UNAUTHORIZED',
  ],
  ['who is deleted', (api, { id }) => api.repository(User).softDelete({ id }), 'UNAUTHORIZED'],
  [
    'who is no administrator any more',
    (api, { id }) => api.repository(User).update({ id }, { roles: [Role.USER] }),
    'UNAUTHORIZED',
  ],
];

describe('An upload by a caller', () => {
  const api = useTestApi({ settings: { MIN_FREE_DISK: '0' } });

  it.each(EVENTS)('%s ends there, and keeps what was acknowledged', async (_name, happen, code) => {
    const owner = await TusUser.of(api);
    const writer = new TusUser(api, await api.admin());
    const bytes = randomBytes(SIZE);
    const path = await owner.begin(SIZE);
    const connection = await writer.open(path, SIZE);
    connection.write(bytes.subarray(0, SEGMENT + MEBIBYTE));
    let acknowledged = 0;
    await waitFor(async () => (acknowledged = await owner.offsetOf(path)) > 0);
    await happen(api, writer.user);
    connection.write(bytes.subarray(SEGMENT + MEBIBYTE));
    expectError(await connection.answer(), code);
    connection.destroy();

    const offset = await owner.offsetOf(path);
    expect(offset).toBeGreaterThanOrEqual(acknowledged);
    expect(offset).toBeLessThan(SIZE);
    expect((await owner.append(path, offset, bytes.subarray(offset))).status).toBe(204);
    const content = await fetch(`${api.url}/api/v1${path}/content`, {
      headers: { Authorization: `Bearer ${owner.user.token}` },
    });
    expect(Buffer.compare(Buffer.from(await content.arrayBuffer()), bytes)).toBe(0);
  });

  it.each(EVENTS)('%s before its first byte has none', async (_name, happen, code) => {
    const owner = await TusUser.of(api);
    const writer = new TusUser(api, await api.admin());
    const path = await owner.begin(5);
    const connection = await writer.open(path, 5);
    await waitFor(() => isLocked(api, path));
    await happen(api, writer.user);
    connection.write('hello');
    expectError(await connection.answer(), code);
    connection.destroy();
    expect((await owner.client.get(path)).body.data).toMatchObject({ offset: 0, status: 'UPLOADING' });
  });

  it('whose session ends while its creation brings bytes is not there', async () => {
    const writer = await TusUser.of(api);
    const other = await api.admin();
    const uploads = async () =>
      (await api.as(other).get(`/uploads?userId=${writer.user.id}`)).body.data as { key: string }[];
    const connection = await writer.post(5);
    connection.write('he');
    await waitFor(async () => (await uploads()).length === 1);
    await endSessions(api.app.databaseUrl, writer.user);
    connection.write('llo');
    expectError(await connection.answer(), 'UNAUTHORIZED');
    connection.destroy();
    expect(await uploads()).toEqual([]);
  });
});

describe('A download by a caller', () => {
  const api = useTestApi({ settings: { UPLOAD_MAX_OPEN_PER_USER: '1', MIN_FREE_DISK: '0' } });
  const DOWNLOADS = 4;

  it.each(EVENTS)('%s while it waits for a place has no bytes', async (_name, happen, code) => {
    const owner = await TusUser.of(api);
    const reader = await api.admin();
    const path = await owner.begin(5);
    expect((await owner.append(path, 0, Buffer.from('hello'))).status).toBe(204);
    const admission = api.app.nest.get(UploadContent)['admission'];
    let free = () => undefined as void;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const held = times(DOWNLOADS, () => admission.during(reader.id, {} as Request, () => freed));
    const answer = api.as(reader).get(`${path}/content`);
    await waitFor(() => admission['queue'].size === 1);
    await happen(api, reader);
    free();

    expectError(await answer, code);
    await Promise.all(held);
  });
});
