import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '../../src/platform/testing';
import type { TestApi, TestUser } from './test-api';
import { TUS, CHUNK } from './tus';

export const MEBIBYTE = 1024 * 1024;

export const sha256 = (bytes: Uint8Array, encoding: 'hex' | 'base64' = 'hex') =>
  createHash('sha256').update(bytes).digest(encoding);

/** The value of `Upload-Metadata` for these pairs. */
export const metadata = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join();

export const keyOf = (path: string) => path.split('/').at(-1)!;
/** The file with the bytes of an upload. */
export const fileOf = (path: string) => join(process.env.TEST_DIRECTORY!, 'uploads', keyOf(path));

/** What the tests of uploads send, for the user who owns what they send. */
export function uploading(api: TestApi, ownerOf: () => TestUser) {
  const own = () => api.as(ownerOf());

  const create = (length: number | string, headers: Record<string, string> = {}, client: Client = own()) =>
    client.post('/uploads', undefined, { ...TUS, 'Upload-Length': String(length), ...headers });

  /** Returns the path of a new upload. */
  async function begin(length: number, headers: Record<string, string> = {}, client: Client = own()): Promise<string> {
    const answer = await create(length, headers, client);
    expect(answer.status).toBe(201);
    return `/uploads/${answer.body.data.key}`;
  }

  const append = (
    path: string,
    offset: number | string,
    bytes: Uint8Array,
    headers: Record<string, string> = {},
    client: Client = own(),
  ) => client.patch(path, bytes, { ...CHUNK, 'Upload-Offset': String(offset), ...headers });

  /** Returns the path of an upload that is complete. */
  async function uploaded(bytes: Uint8Array, pairs?: Record<string, string>): Promise<string> {
    const path = await begin(bytes.length, pairs && { 'Upload-Metadata': metadata(pairs) });
    if (bytes.length > 0) expect((await append(path, 0, bytes)).status).toBe(204);
    return path;
  }

  const download = (path: string, headers: Record<string, string> = {}, reader: TestUser = ownerOf()) =>
    fetch(`${api.url}/api/v1${path}/content`, { headers: { Authorization: `Bearer ${reader.token}`, ...headers } });

  return { create, begin, append, uploaded, download };
}
