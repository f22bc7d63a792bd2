import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Upload as TusClient } from 'tus-js-client';
import { UploadSweep } from '../../src/uploads/upload-sweep';
import { Upload } from '../../src/uploads/upload.entity';
import { query } from '../support/databases';
import { expectError } from '../support/expectations';
import { RawConnection } from '../support/raw-http';
import { type Client, countStatuses, type TestUser, times, useTestApi } from '../support/test-api';
import { isLocked } from '../support/upload-lock';
import { waitFor } from '../support/wait-for';

const MEBIBYTE = 1024 * 1024;
const TUS = { 'Tus-Resumable': '1.0.0' };
const CHUNK = { ...TUS, 'Content-Type': 'application/offset+octet-stream' };
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const sha256 = (bytes: Uint8Array, encoding: 'hex' | 'base64' = 'hex') =>
  createHash('sha256').update(bytes).digest(encoding);
const metadata = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join();

describe('An upload', () => {
  const api = useTestApi({
    settings: { MAX_UPLOAD_SIZE: String(64 * MEBIBYTE), UPLOAD_QUOTA: String(96 * MEBIBYTE), MIN_FREE_DISK: '0' },
  });
  let owner: TestUser;
  let own: Client;
  let other: Client;
  let admin: Client;

  beforeEach(async () => {
    owner = await api.user();
    own = api.as(owner);
    other = api.as(await api.user());
    admin = api.as(await api.admin());
  });

  const create = (length: number | string, headers: Record<string, string> = {}, client = own) =>
    client.post('/uploads', undefined, { ...TUS, 'Upload-Length': String(length), ...headers });

  async function begin(length: number, headers: Record<string, string> = {}): Promise<string> {
    const answer = await create(length, headers);
    expect(answer.status).toBe(201);
    return `/uploads/${answer.body.data.key}`;
  }

  const append = (path: string, offset: number | string, bytes: Uint8Array, headers: Record<string, string> = {}) =>
    own.patch(path, bytes, { ...CHUNK, 'Upload-Offset': String(offset), ...headers });

  async function uploaded(bytes: Uint8Array, pairs?: Record<string, string>): Promise<string> {
    const path = await begin(bytes.length, pairs && { 'Upload-Metadata': metadata(pairs) });
    if (bytes.length > 0) expect((await append(path, 0, bytes)).status).toBe(204);
    return path;
  }

  const keyOf = (path: string) => path.split('/').at(-1)!;
  const fileOf = (path: string) => join(process.env.TEST_DIRECTORY!, 'uploads', keyOf(path));

  const download = (path: string, headers: Record<string, string> = {}, client = owner) =>
    fetch(`${api.url}/api/v1${path}/content`, { headers: { Authorization: `Bearer ${client.token}`, ...headers } });

  it('is sent in pieces by a client of the protocol, and comes back as it was', async () => {
    const bytes = randomBytes(20 * MEBIBYTE + 17);
    const url = await new Promise<string>((resolve, reject) => {
      const client = new TusClient(bytes, {
        endpoint: `${api.url}/api/v1/uploads`,
        chunkSize: 7 * MEBIBYTE,
        headers: { Authorization: `Bearer ${owner.token}` },
        metadata: { filename: 'Größe.bin', filetype: 'text/plain' },
        onSuccess: () => resolve(client.url!),
        onError: reject,
      });
      client.start();
    });
    const path = new URL(url).pathname.replace('/api/v1', '');

    const { data } = (await own.get(path)).body;
    expect(data).toMatchObject({ filename: 'Größe.bin', size: bytes.length, offset: bytes.length, status: 'COMPLETE' });
    expect(data).toMatchObject({ user_id: owner.id, checksum: sha256(bytes), expires_at: null });
    const content = await download(path);
    expect(sha256(Buffer.from(await content.arrayBuffer()))).toBe(data.checksum);
    expect(content.headers.get('content-disposition')).toBe(
      `attachment; filename="Gr__e.bin"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.bin`,
    );
    expect(content.headers.get('x-content-type-options')).toBe('nosniff');
    expect(content.headers.get('content-security-policy')).toContain('sandbox');
  });

  it('brings its first bytes with its creation, and says where it stands', async () => {
    const answer = await own.post('/uploads', Buffer.from('hello'), {
      ...CHUNK,
      'Upload-Length': '11',
      'Upload-Metadata': metadata({ filename: 'a.txt', filetype: 'text/plain' }),
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('upload-offset')).toBe('5');
    const path = answer.headers.get('location')!.replace('/api/v1', '');

    const head = await own.head(path, TUS);
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'upload-offset': '5',
      'upload-length': '11',
      'upload-metadata': metadata({ filename: 'a.txt', filetype: 'text/plain' }),
      'cache-control': 'no-store',
      'tus-resumable': '1.0.0',
    });
    expect(Date.parse(head.headers.get('upload-expires')!)).toBeGreaterThan(Date.now() + 23 * 60 * 60 * 1_000);
    expectError(await own.get(`${path}/content`), 'CONFLICT');

    const last = await append(path, 5, Buffer.from(' world'));
    expect(last).toMatchObject({ status: 204 });
    expect(last.headers.get('upload-offset')).toBe('11');
    expect((await own.get(path)).body.data).toMatchObject({ media_type: 'text/plain', filename: 'a.txt' });
  });

  it('may be empty', async () => {
    const path = await uploaded(Buffer.alloc(0));
    expect((await own.get(path)).body.data).toMatchObject({ status: 'COMPLETE', checksum: sha256(Buffer.alloc(0)) });
    expect(await (await download(path)).text()).toBe('');
    const last = await download(path, { Range: 'bytes=-5' });
    expect([last.status, last.headers.get('content-range')]).toEqual([416, 'bytes */0']);
  });

  it('goes on only where it stands, in the one version, with bytes that are no more and no others than said', async () => {
    const path = await begin(10);
    expectError(await append(path, 5, Buffer.from('hello')), 'CONFLICT');
    expectError(await append(path, 0, Buffer.from('hello'), { 'Tus-Resumable': '0.2.2' }), 'PRECONDITION_FAILED');
    expectError(
      await append(path, 0, Buffer.from('hello'), { 'Content-Type': 'text/plain' }),
      'UNSUPPORTED_MEDIA_TYPE',
    );
    expectError(await append(path, '9'.repeat(20), Buffer.from('hello')), 'CONFLICT');
    expectError(await append(path, -1, Buffer.from('hello')), 'VALIDATION_ERROR');
    expectError(await append(path, 0, Buffer.from('hello'), { 'Upload-Length': '5' }), 'VALIDATION_ERROR');
    expectError(await append(path, 0, Buffer.from('hello world')), 'PAYLOAD_TOO_LARGE');
    const wrong = `sha256 ${sha256(Buffer.from('other'), 'base64')}`;
    expectError(await append(path, 0, Buffer.from('hello'), { 'Upload-Checksum': wrong }), 'CHECKSUM_MISMATCH');
    expectError(await append(path, 0, Buffer.from('hello'), { 'Upload-Checksum': 'md5 x' }), 'VALIDATION_ERROR');
    expectError(await append(path, 0, Buffer.alloc(0), { 'Upload-Checksum': wrong }), 'CHECKSUM_MISMATCH');
    const none = `sha256 ${sha256(Buffer.alloc(0), 'base64')}`;
    expect((await append(path, 0, Buffer.alloc(0), { 'Upload-Checksum': none })).status).toBe(204);
    expect((await own.head(path)).headers.get('upload-offset')).toBe('0');

    const right = `sha256 ${sha256(Buffer.from('hello'), 'base64')}`;
    expect((await append(path, 0, Buffer.from('hello'), { 'Upload-Checksum': right })).status).toBe(204);
    expect((await append(path, 5, Buffer.from('world'))).status).toBe(204);
    expect(await (await download(path)).text()).toBe('helloworld');
    expectError(await append(path, 10, Buffer.from('!')), 'PAYLOAD_TOO_LARGE');
  });

  it('takes no more bytes than said when their number isn’t declared', async () => {
    const path = await begin(10);
    const connection = await RawConnection.open(api.app.port);
    const head = `PATCH /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n`;
    const type = 'Content-Type: application/offset+octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
    connection.write(`${head}${type}5\r\nhello\r\nb\r\n and others\r\n0\r\n\r\n`);

    expectError(await connection.answer(), 'PAYLOAD_TOO_LARGE');
    connection.destroy();
    expect((await own.get(path)).body.data).toMatchObject({ status: 'UPLOADING' });
  });

  it.each([
    ['-1', 'VALIDATION_ERROR'],
    ['1.5', 'VALIDATION_ERROR'],
    ['0x10', 'VALIDATION_ERROR'],
    ['', 'VALIDATION_ERROR'],
    [String(64 * MEBIBYTE + 1), 'PAYLOAD_TOO_LARGE'],
    ['9'.repeat(400), 'PAYLOAD_TOO_LARGE'],
  ])('has no length of %s', async (length, code) => {
    expectError(await create(length), code);
  });

  it('says its length when it is created, its version, and takes no key', async () => {
    expectError(await own.post('/uploads', undefined, TUS), 'VALIDATION_ERROR');
    expectError(await own.post('/uploads', undefined, { 'Upload-Length': '1' }), 'PRECONDITION_FAILED');
    expectError(await own.post('/uploads', undefined, { ...TUS, 'Upload-Defer-Length': '1' }), 'VALIDATION_ERROR');
    const { details } = expectError(await create(1, { 'Idempotency-Key': 'a' }), 'VALIDATION_ERROR');
    expect(details).toBe(
      'Idempotency-Key: is not taken here: an upload is not created again but resumed, where HEAD says',
    );
    expectError(await own.post('/uploads', { a: 1 }, { ...TUS, 'Upload-Length': '9' }), 'UNSUPPORTED_MEDIA_TYPE');
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\notes.txt', 'notes.txt'],
    ['..', null],
    ['a/', null],
    ['  e\u0301.txt ', 'é.txt'],
  ])('is called by the last part of %s', async (filename, stored) => {
    const { body } = await create(1, { 'Upload-Metadata': metadata({ filename }) });
    expect(body.data.filename).toBe(stored);
    expect(
      readdirSync(join(process.env.TEST_DIRECTORY!, 'uploads')).filter((name) => !/^[0-9a-f-]{36}$/.test(name)),
    ).toEqual([]);
  });

  it.each([
    metadata({ filename: 'a\r\nSet-Cookie: b' }),
    metadata({ filename: 'a\0.txt' }),
    metadata({ filename: 'a\u202etxt.exe' }),
    metadata({ filename: 'a\u2066b\u2069.txt' }),
    metadata({ filename: 'a'.repeat(256) }),
    'filename not-base64',
    'filename YQ==,filename Yg==',
    `filename ${'QQ=='.repeat(2_000)}`,
  ])('has no metadata %#', async (header) => {
    expectError(await create(1, { 'Upload-Metadata': header }), 'VALIDATION_ERROR');
  });

  it('is told how long its name may be', async () => {
    const { details } = expectError(
      await create(1, { 'Upload-Metadata': metadata({ filename: 'a'.repeat(256) }) }),
      'VALIDATION_ERROR',
    );
    expect(details).toBe('Upload-Metadata: must have a filename of at most 255 characters');
  });

  it.each<[string, Buffer, string, string]>([
    ['an image that is called a page', PNG, 'text/html', 'image/png'],
    ['a page', Buffer.from('<html><script>alert(1)</script>'), 'text/html', 'application/octet-stream'],
    [
      'a drawing',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'image/svg+xml',
      'application/octet-stream',
    ],
    ['a text that is called an image', Buffer.from('text'), 'image/png', 'application/octet-stream'],
    ['a document', Buffer.from('<?xml version="1.0"?><a/>'), 'text/plain', 'application/octet-stream'],
    ['a program', Buffer.from('alert(1)'), 'text/jscript', 'application/octet-stream'],
    ['what nobody knows', Buffer.from('x'), 'text/x-server-parsed', 'application/octet-stream'],
    ['data', Buffer.from('{}'), 'application/json; charset=utf-8', 'application/json'],
    ['a text in UTF-8', Buffer.from('ä'), 'text/Plain;format=flowed; charset="UTF-8"', 'text/plain; charset=utf-8'],
    ['a text in another encoding', Buffer.from('x'), 'text/plain; charset=utf-7', 'text/plain'],
    ['a table', Buffer.from('a,b\n1,2'), 'text/csv', 'text/csv'],
    ['nonsense', Buffer.from('x'), 'no type at all', 'application/octet-stream'],
  ])('is what its bytes say: %s', async (_name, bytes, filetype, expected) => {
    const path = await uploaded(bytes, { filename: 'file', filetype });
    expect((await own.get(path)).body.data.media_type).toBe(expected);
    expect((await download(path)).headers.get('content-type')).toBe(expected);
  });

  it('is written only in the version that its writer has seen', async () => {
    const path = await begin(5);
    const seen = (await own.head(path)).headers.get('etag')!;
    const old = await append(path, 0, Buffer.from('he'), { 'If-Match': '"99"' });
    expectError(old, 'PRECONDITION_FAILED');
    expect(old.headers.get('etag')).toBe(seen);
    expectError(await append(path, 0, Buffer.from('he'), { 'If-None-Match': '*' }), 'PRECONDITION_FAILED');
    expect(readFileSync(fileOf(path))).toHaveLength(0);

    expect((await append(path, 0, Buffer.from('he'), { 'If-Match': seen })).status).toBe(204);
    expectError(await append(path, 2, Buffer.from('llo'), { 'If-Match': seen }), 'PRECONDITION_FAILED');
    expect((await append(path, 2, Buffer.from('llo'), { 'If-Match': '*' })).status).toBe(204);
    expect(await (await download(path)).text()).toBe('hello');
  });

  it('is told from what a caller has of it by its entity tag, and never from a cache to who asks where to go on', async () => {
    const path = await begin(5);
    const { headers } = await own.get(path);
    expect(headers.get('cache-control')).toBe('no-store');
    const known = { 'If-None-Match': headers.get('etag')! };
    const same = await own.get(path, known);
    expect([same.status, same.headers.get('cache-control')]).toEqual([304, 'no-store']);
    expect((await own.head(path)).headers.get('cache-control')).toBe('no-store');

    expect((await append(path, 0, Buffer.from('he'))).status).toBe(204);
    const other = await own.get(path, known);
    expect([other.status, other.body.data.offset]).toEqual([200, 2]);
  });

  // The one device whose writes fail as on a full disk, without one.
  (existsSync('/dev/full') ? it : it.skip)('is answered 507 on a full disk, and goes on where it stood', async () => {
    const full = await begin(10);
    rmSync(fileOf(full));
    symlinkSync('/dev/full', fileOf(full));
    const bytes = randomBytes(10);
    expectError(await append(full, 0, bytes), 'INSUFFICIENT_STORAGE');
    expect((await own.head(full)).headers.get('upload-offset')).toBe('0');

    rmSync(fileOf(full));
    writeFileSync(fileOf(full), '');
    expect((await append(full, 0, bytes)).status).toBe(204);
    expect((await own.get(full)).body.data.checksum).toBe(sha256(bytes));
  });

  it('whose bytes are lost is gone, which the log says as an error', async () => {
    const [lost, cut, unfinished] = [
      await uploaded(Buffer.from('lost')),
      await uploaded(Buffer.from('cut off')),
      await begin(10),
    ];
    await append(unfinished, 0, Buffer.from('hello'));
    for (const path of [lost, unfinished]) rmSync(fileOf(path));
    truncateSync(fileOf(cut), 3);
    const before = api.app.log.length;
    const gone = await own.get(`${lost}/content`, { Range: 'bytes=0-1' });
    expectError(gone, 'GONE');
    for (const name of ['content-disposition', 'accept-ranges', 'content-range', 'etag']) {
      expect([name, gone.headers.has(name)]).toEqual([name, false]);
    }
    expect(gone.headers.get('content-security-policy')).not.toContain('sandbox');
    expectError(await append(unfinished, 5, Buffer.from('world')), 'GONE');
    await expect(download(cut).then((answer) => answer.text())).rejects.toThrow();

    const errors = api.app.log.slice(before).filter(({ level }) => level === 50);
    const said = (path: string) => ({ upload: keyOf(path), msg: 'The bytes of an upload are gone' });
    expect(errors).toMatchObject([said(lost), said(unfinished), said(cut)]);
    expect((await own.delete(lost)).status).toBe(204);
  });

  it('is read, whatever its range looks like, without anybody else waiting', async () => {
    const path = await uploaded(Buffer.from('0123456789'));
    const ranges = [
      `bytes${' '.repeat(14_500)}-`,
      `bytes=${' '.repeat(14_500)}-`,
      `bytes=${' ,'.repeat(7_000)}-1`,
      `bytes=${'-1,'.repeat(4_800)}-1`,
      `bytes=-${'9'.repeat(14_500)}`,
      `${'bytes='.repeat(2_000)}0-1`,
    ];
    // What other processes take of a busy machine differs from time to time, what a range costs doesn't.
    const blocks: number[] = [];
    let answers: Response[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      answers = await Promise.all(ranges.map((Range) => download(path, { Range })));
      delay.disable();
      blocks.push(delay.max / 1e6);
    }
    expect(Math.min(...blocks)).toBeLessThan(250);
    for (const answer of answers) expect([answer.status, await answer.text()]).toEqual([200, '0123456789']);
  });

  it('is read in ranges', async () => {
    const path = await uploaded(Buffer.from('0123456789'));
    const ETag = `"${sha256(Buffer.from('0123456789'))}"`;
    const read = async (Range: string, headers = {}) => {
      const answer = await download(path, { Range, ...headers });
      return [answer.status, answer.headers.get('content-range'), answer.status < 300 ? await answer.text() : ''];
    };
    expect(await read('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await read('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await read('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await read('bytes=-100')).toEqual([206, 'bytes 0-9/10', '0123456789']);
    expect(await read('bytes=20-30, -100')).toEqual([206, 'bytes 0-9/10', '0123456789']);
    expect(await read(`bytes=-${'9'.repeat(400)}`)).toEqual([206, 'bytes 0-9/10', '0123456789']);
    expect(await read('bytes=-0')).toEqual([416, 'bytes */10', '']);
    expect(await read('bytes=5-99')).toEqual([206, 'bytes 5-9/10', '56789']);
    expect(await read('bytes=10-')).toEqual([416, 'bytes */10', '']);
    expect(await read('bytes=0-1,4-5')).toEqual([200, null, '0123456789']);
    expect(await read('lines=1')).toEqual([200, null, '0123456789']);
    expect(await read('bytes=2-4', { 'If-Range': ETag })).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await read('bytes=2-4', { 'If-Range': '"other"' })).toEqual([200, null, '0123456789']);
    const known = await download(path, { 'If-None-Match': ETag });
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, ETag, '']);
    const head = await own.head(`${path}/content`);
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, '10', '']);
    const ranged = await own.head(`${path}/content`, { Range: 'bytes=2-4' });
    expect([ranged.status, ranged.headers.get('content-length')]).toEqual([200, '10']);
    expect(ranged.headers.has('content-range')).toBe(false);
    expectError(await own.get(`${path}/content`, { Range: 'bytes=10-' }), 'RANGE_NOT_SATISFIABLE');
    expect((await own.get(`${path}/content`, { Accept: 'image/png' })).status).toBe(200);
  });

  it('is nobody else’s but an administrator’s', async () => {
    const path = await uploaded(Buffer.from('secret'));
    const ask = (client: Client) => [
      client.get(path),
      client.head(path),
      client.get(`${path}/content`),
      client.patch(path, Buffer.from('x'), { ...CHUNK, 'Upload-Offset': '6' }),
      client.delete(path),
    ];
    expect((await Promise.all(ask(other))).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect((await Promise.all(ask(api))).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect((await other.get('/uploads')).body.data).toEqual([]);
    expect((await other.get(`/uploads?userId=${owner.id}`)).status).toBe(403);
    expect((await own.get('/uploads')).body.data).toHaveLength(1);
    expect((await admin.get(`/uploads?userId=${owner.id}`)).body.data).toHaveLength(1);
    expect((await admin.get(`${path}/content`)).text).toBe('secret');
    expect((await admin.delete(path)).status).toBe(204);
  });

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
    expect(details).toContain(`may have ${96 * MEBIBYTE} bytes, and have ${80 * MEBIBYTE};`);
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
