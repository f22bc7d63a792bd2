import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Upload as TusClient } from 'tus-js-client';
import { type Client, expectError, sendRaw, waitFor } from '../../src/platform/testing';
import { Upload } from '../../src/uploads/upload.entity';
import { type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const TUS = { 'Tus-Resumable': '1.0.0' };
const CHUNK = { ...TUS, 'Content-Type': 'application/offset+octet-stream' };
/** A folder of its own: only uploads of this file lie there. */
const DATA_DIR = join(process.env.TEST_DIRECTORY!, 'uploads-protocol');
const FOLDER = join(DATA_DIR, 'uploads');
const QUOTA = 100;
const settings = { DATA_DIR, UPLOAD_QUOTA: String(QUOTA), MIN_FREE_DISK: '0' };

const keyOf = (path: string) => path.split('/').at(-1)!;
const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64');

/** What the tus protocol demands, as clients of it see it. */
describe('The protocol of uploads', () => {
  const api = useTestApi({ settings });
  let owner: TestUser;
  let own: Client;

  beforeEach(async () => {
    owner = await api.user();
    own = api.as(owner);
  });

  /** Creates an upload with its first bytes. */
  const bring = (text: string, length: number, headers: Record<string, string> = {}) =>
    own.post('/uploads', Buffer.from(text), { ...CHUNK, 'Upload-Length': String(length), ...headers });

  async function begin(length: number): Promise<string> {
    const answer = await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': String(length) });
    expect(answer.status).toBe(201);
    return `/uploads/${answer.body.data.key}`;
  }

  describe('for a creation that is refused with its first bytes', () => {
    const files = () => readdirSync(FOLDER);

    async function expectNothingOf(refused: () => Promise<void>): Promise<void> {
      const before = files();
      await refused();
      expect((await own.get('/uploads')).body.data).toEqual([]);
      expect(files()).toEqual(before);
      // All of the quota is free.
      expect((await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': String(QUOTA) })).status).toBe(201);
    }

    it('leaves nothing of bytes with another checksum', () =>
      expectNothingOf(async () => {
        const wrong = { 'Upload-Checksum': `sha256 ${digest('sha256', 'other')}` };
        expectError(await bring('hello', 10, wrong), 'CHECKSUM_MISMATCH');
        expectError(await bring('hello', 5, wrong), 'CHECKSUM_MISMATCH');
      }));

    it('leaves nothing of more bytes than said, whether their number is declared or not', () =>
      expectNothingOf(async () => {
        expectError(await bring('hello world', 5), 'PAYLOAD_TOO_LARGE');
        const head = `POST /api/v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\nTus-Resumable: 1.0.0\r\n`;
        const type =
          'Content-Type: application/offset+octet-stream\r\nTransfer-Encoding: chunked\r\nUpload-Length: 5\r\n\r\n';
        const answer = await sendRaw(api.app.port, `${head}${type}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`);
        expectError(answer, 'PAYLOAD_TOO_LARGE');
      }));
  });

  it('knows SHA-1, which every server has, beside SHA-256, for bytes of both requests', async () => {
    const sum = (algorithm: string, text: string) => ({ 'Upload-Checksum': `${algorithm} ${digest(algorithm, text)}` });
    const path = (await bring('hello', 10, sum('sha1', 'hello'))).headers.get('location')!.replace('/api/v1', '');
    const append = (headers: Record<string, string>) =>
      own.patch(path, Buffer.from('world'), { ...CHUNK, 'Upload-Offset': '5', ...headers });
    expectError(await append(sum('sha1', 'other')), 'CHECKSUM_MISMATCH');
    expectError(await append({ 'Upload-Checksum': `sha1 ${digest('sha256', 'world')}` }), 'VALIDATION_ERROR');
    expectError(await append({ 'Upload-Checksum': `sha256 ${digest('sha1', 'world')}` }), 'VALIDATION_ERROR');
    expectError(await append(sum('md5', 'world')), 'VALIDATION_ERROR');
    expectError(await append({ 'Upload-Checksum': 'constructor x' }), 'VALIDATION_ERROR');
    expectError(await bring('hello', 10, sum('sha1', 'other')), 'CHECKSUM_MISMATCH');

    expect((await append(sum('sha1', 'world'))).status).toBe(204);
    const { checksum } = (await own.get(path)).body.data;
    expect(checksum).toBe(createHash('sha256').update('helloworld').digest('hex'));
  });

  it('has uploads expire, which take no room any more', async () => {
    const path = await begin(QUOTA);
    expectError(await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': '1' }), 'QUOTA_EXCEEDED');
    await api.repository(Upload).update({ key: keyOf(path) }, { expires_at: new Date(Date.now() - 1) });
    expect((await own.head(path, TUS)).status).toBe(410);
    await begin(QUOTA);
  });

  describe('by POST with the method in a header', () => {
    const OVERRIDE = 'X-HTTP-Method-Override';
    const chunk = { ...CHUNK, 'Upload-Offset': '0', [OVERRIDE]: 'PATCH' };

    it('serves a client that has no PATCH', async () => {
      const bytes = Buffer.from('0123456789'.repeat(10));
      const before = api.app.log.length;
      const url = await new Promise<string>((resolve, reject) => {
        const client = new TusClient(bytes, {
          endpoint: `${api.url}/api/v1/uploads`,
          chunkSize: 30,
          overridePatchMethod: true,
          headers: { Authorization: `Bearer ${owner.token}` },
          onSuccess: () => resolve(client.url!),
          onError: reject,
        });
        client.start();
      });
      expect((await own.get(`/uploads/${keyOf(url)}/content`)).text).toBe(bytes.toString());
      const asked = () => api.app.log.slice(before).filter(({ route }) => route === '/api/uploads/:key');
      await waitFor(() => asked().length === 4);
      expect(asked().map(({ method }) => method)).toEqual(['PATCH', 'PATCH', 'PATCH', 'PATCH']);
    });

    it.each<[string, Record<string, string>]>([
      ['//api/v1/uploads/', {}],
      ['//api/v2/uploads/', {}],
      ['//api/uploads/', { Accept: 'application/vnd.api+json;version=2' }],
      ['//API/V1/Uploads/', {}],
    ])('appends and deletes below %s', async (prefix, headers) => {
      const path = prefix + keyOf(await begin(5));
      expect((await own.post(path, Buffer.from('hello'), { ...chunk, ...headers })).status).toBe(204);
      expect((await own.get(`${path}/content`)).text).toBe('hello');
      expect((await own.post(`${path}/`, undefined, { ...headers, ...TUS, [OVERRIDE]: 'DELETE' })).status).toBe(204);
      expect((await own.get(path)).status).toBe(404);
    });

    it('asks what the method itself asks', async () => {
      const path = await begin(5);
      const post = (client: Client, headers: Record<string, string>) =>
        client.post(path, Buffer.from('hello'), { ...chunk, ...headers });
      expectError(await post(api, {}), 'UNAUTHORIZED');
      expectError(await post(api.as(await api.user()), {}), 'FORBIDDEN');
      expectError(await post(own, { 'If-Match': '"99"' }), 'PRECONDITION_FAILED');
      expectError(await post(own, { 'Tus-Resumable': '0.2.2' }), 'PRECONDITION_FAILED');
      expect((await own.get(path)).body.data.offset).toBe(0);
    });

    it('is 405 where an upload has no such method', async () => {
      const path = await begin(5);
      expectError(await own.post(path, undefined, { ...TUS, [OVERRIDE]: 'PUT' }), 'METHOD_NOT_ALLOWED');
      expectError(await own.post(`${path}/content`, undefined, { ...TUS, [OVERRIDE]: 'DELETE' }), 'METHOD_NOT_ALLOWED');
      expect((await own.get(path, { [OVERRIDE]: 'DELETE' })).status).toBe(200);
    });
  });

  it('has its version in each answer, be it an error', async () => {
    const [path, old] = [await begin(10), await begin(10)];
    await api.repository(Upload).update({ key: keyOf(old) }, { expires_at: new Date(0) });
    const stranger = api.as(await api.user());
    const chunk = { ...CHUNK, 'Upload-Offset': '0' };
    const bytes = Buffer.from('hello');
    const wrong = { 'Upload-Checksum': `sha256 ${digest('sha256', 'other')}` };
    const answers = [
      await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': '1' }),
      await own.head(path, TUS),
      await own.post('/uploads', undefined, TUS),
      await own.head('/uploads/nonsense', TUS),
      await api.head(path, TUS),
      await api.post('/uploads', undefined, { ...TUS, 'Upload-Length': '1' }),
      await stranger.patch(path, bytes, chunk),
      await own.head(`/uploads/${randomUUID()}`, TUS),
      await own.put(path, undefined, TUS),
      await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': '1', Accept: 'image/png' }),
      await own.patch(path, bytes, { ...chunk, 'Upload-Offset': '5' }),
      await own.head(old, TUS),
      await own.patch(path, bytes, { ...chunk, 'Tus-Resumable': '0.2.2' }),
      await own.patch(path, Buffer.alloc(11), chunk),
      await own.patch(path, bytes, { ...chunk, 'Content-Type': 'text/plain' }),
      await own.patch(path, bytes, { ...chunk, ...wrong }),
      await own.patch(path, bytes, chunk),
      await own.delete(path, undefined, TUS),
    ];
    const statuses = [201, 200, 400, 400, 401, 401, 403, 404, 405, 406, 409, 410, 412, 413, 415, 460, 204, 204];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    expect(answers.map(({ headers }) => headers.get('tus-resumable'))).toEqual(statuses.map(() => '1.0.0'));
  });
});

describe('The files of uploads', () => {
  // As an earlier version has left it.
  mkdirSync(FOLDER, { recursive: true });
  chmodSync(FOLDER, 0o755);
  const api = useTestApi({ settings });

  it('are for the service alone to read', async () => {
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    const own = api.as(await api.user());
    const { body } = await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': '1' });
    expect([modeOf(FOLDER), modeOf(join(FOLDER, body.data.key))]).toEqual(['700', '600']);
  });
});

describe('An upload that was not finished in time', () => {
  const api = useTestApi({ settings });

  it('is removed soon after the next start', async () => {
    const own = api.as(await api.user());
    const { body } = await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': '1' });
    const { key } = body.data as Upload;
    await api.repository(Upload).update({ key }, { expires_at: new Date(Date.now() - 1) });
    const next = await startApp({ settings, databaseUrl: api.app.databaseUrl, sweepAfter: 1 });
    try {
      await waitFor(() => !readdirSync(FOLDER).includes(key));
      expect((await own.head(`/uploads/${key}`, TUS)).status).toBe(404);
    } finally {
      await next.stop();
    }
  });
});
