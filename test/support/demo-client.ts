import { createHash } from 'node:crypto';

const TUS = { 'Tus-Resumable': '1.0.0' };

interface Reply {
  status: number;
  data: { id: number };
  pagination?: { total: number };
}

/** A caller who has signed in to a service in a process of its own. */
export class DemoClient {
  private constructor(
    private readonly url: string,
    readonly token = '',
  ) {}

  static async signIn(url: string, username: string, password: string): Promise<DemoClient> {
    const answer = await fetch(`${url}/api/v1/auth/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const { data } = (await answer.json()) as { data: { access_token: string } };
    return new DemoClient(url, data.access_token);
  }

  static anonymous(url: string): DemoClient {
    return new DemoClient(url);
  }

  /** The same caller at another instance. */
  through(url: string): DemoClient {
    return new DemoClient(url, this.token);
  }

  get = async (path: string): Promise<Reply> => replyOf(await this.send('GET', path));

  post = (path: string, body: object): Promise<Reply> => this.write('POST', path, body);

  patch = (path: string, body: object, headers?: Record<string, string>): Promise<Reply> =>
    this.write('PATCH', path, body, headers);

  /** The number of rows of a collection, and the highest id. */
  async summary(path: string): Promise<{ total: number; highest: number }> {
    const { data, pagination } = await this.get(`${path}?size=1&sort=id&order=desc`);
    return { total: pagination!.total, highest: (data as unknown as { id: number }[])[0].id };
  }

  async checksum(path: string): Promise<string> {
    return checksumOf(Buffer.from(await (await this.send('GET', path)).arrayBuffer()));
  }

  /** Returns the path of an upload that was acknowledged as a whole; undefined if it was not. */
  async upload(bytes: Buffer): Promise<string | undefined> {
    const begun = await this.send('POST', '/uploads', undefined, { ...TUS, 'Upload-Length': String(bytes.length) });
    const { key } = ((await begun.json()) as { data: { key: string } }).data;
    const headers = { ...TUS, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' };
    const { status } = await this.send('PATCH', `/uploads/${key}`, bytes, headers);
    return status === 204 ? `/uploads/${key}` : undefined;
  }

  private async write(method: string, path: string, body: object, headers?: Record<string, string>): Promise<Reply> {
    const all = { 'Content-Type': 'application/json', ...headers };
    return replyOf(await this.send(method, path, JSON.stringify(body), all));
  }

  private send(method: string, path: string, body?: string | Buffer, headers?: Record<string, string>) {
    const own = this.token ? { Authorization: `Bearer ${this.token}`, ...headers } : headers;
    return fetch(`${this.url}/api/v1${path}`, { method, headers: own, body: body as BodyInit | undefined });
  }
}

async function replyOf(answer: Response): Promise<Reply> {
  return { status: answer.status, ...((await answer.json()) as Omit<Reply, 'status'>) };
}

export const checksumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
