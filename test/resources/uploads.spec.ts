import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Upload as TusClient } from 'tus-js-client';
import { type Client, expectError, RawConnection } from '../../src/platform/testing';
import { ByteStore } from '../../src/uploads/bytes/byte-store';
import { type TestUser, useTestApi } from '../support/test-api';
import { CHUNK, TUS } from '../support/tus';
import { MEBIBYTE, metadata, sha256, uploading } from '../support/uploading';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Of UTF-8: the library looks behind it. */
const MARK = Buffer.from('efbbbf', 'hex');

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
    ['a compressed file', gzipSync('PK'), 'text/plain', 'application/gzip'],
    ['a compressed file behind a mark', Buffer.concat([MARK, gzipSync('PK')]), 'text/plain', 'application/gzip'],
    ['nonsense', Buffer.from('x'), 'no type at all', 'application/octet-stream'],
  ])('is what its bytes say: %s', async (_name, bytes, filetype, expected) => {
    const path = await uploaded(bytes, { filename: 'file', filetype });
    expect((await own.get(path)).body.data.media_type).toBe(expected);
    expect((await download(path)).headers.get('content-type')).toBe(expected);
  });

  it('isn’t read again when a complete one is sent once more, or nothing of it', async () => {
    const path = await uploaded(Buffer.from('hello'));
    const read = jest.spyOn(api.app.nest.get(ByteStore, { strict: false }), 'read');
    const nothing = await append(path, 5, Buffer.alloc(0));
    expect([nothing.status, nothing.headers.get('upload-offset')]).toEqual([204, '5']);
    expect((await append(path, 5, Buffer.from('!'))).status).toBeGreaterThanOrEqual(400);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();

    expect((await own.get(path)).body.data).toMatchObject({
      status: 'COMPLETE',
      checksum: sha256(Buffer.from('hello')),
    });
  });

  it('isn’t unpacked: nobody looks into a compressed file', async () => {
    const inflate = jest.spyOn(DecompressionStream.prototype, 'readable', 'get');
    for (const prefix of [Buffer.alloc(0), MARK]) await uploaded(Buffer.concat([prefix, gzipSync('PK')]));

    expect(inflate).not.toHaveBeenCalled();
    inflate.mockRestore();
  });
});
