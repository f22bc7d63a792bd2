import { type Client, RawConnection } from '../../src/platform/testing';
import { type TestUser, type TestApi } from './test-api';

export const TUS = { 'Tus-Resumable': '1.0.0' };
export const CHUNK = { ...TUS, 'Content-Type': 'application/offset+octet-stream' };

/** A user who uploads by the tus protocol. */
export class TusUser {
  readonly client: Client;

  constructor(
    private readonly api: TestApi,
    readonly user: TestUser,
    /** Headers of all requests. */
    private readonly headers: Record<string, string> = {},
  ) {
    this.client = api.as(user);
    if (Object.keys(headers).length > 0) this.client = this.client.with(headers);
  }

  static async of(api: TestApi, headers?: Record<string, string>): Promise<TusUser> {
    return new TusUser(api, await api.user(), headers);
  }

  create = (length: number, body?: Uint8Array, headers: Record<string, string> = {}) =>
    this.client.post('/uploads', body, { ...(body ? CHUNK : TUS), 'Upload-Length': String(length), ...headers });

  /** Returns the path of a new upload. */
  async begin(length: number): Promise<string> {
    const answer = await this.create(length);
    if (answer.status !== 201) throw new Error(answer.text);
    return `/uploads/${answer.body.data.key}`;
  }

  append = (path: string, offset: number, bytes: Uint8Array, headers: Record<string, string> = {}) =>
    this.client.patch(path, bytes, { ...CHUNK, 'Upload-Offset': String(offset), ...headers });

  async offsetOf(path: string): Promise<number> {
    return Number((await this.client.head(path)).headers.get('upload-offset'));
  }

  /** Sends the head of a request that appends bytes, on a new connection. @param length Default: chunked */
  async open(path: string, length?: number, headers: Record<string, string> = {}): Promise<RawConnection> {
    return (await RawConnection.open(this.api.app.port)).write(this.head(path, length, headers));
  }

  /** Sends the head of a request that creates an upload with its bytes. */
  async post(length: number): Promise<RawConnection> {
    const lines = this.lines({ 'Upload-Length': String(length), 'Content-Length': String(length) });
    return (await RawConnection.open(this.api.app.port)).write(`POST /api/v1/uploads HTTP/1.1\r\n${lines}`);
  }

  head(path: string, length?: number, headers: Record<string, string> = {}): string {
    const size: Record<string, string> =
      length === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(length) };
    return `PATCH /api/v1${path} HTTP/1.1\r\n${this.lines({ 'Upload-Offset': '0', ...size, ...headers })}`;
  }

  private lines(headers: Record<string, string>): string {
    const all = { Host: 'x', Authorization: `Bearer ${this.user.token}`, ...CHUNK, ...this.headers, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return [...lines, '', ''].join('\r\n');
  }
}
