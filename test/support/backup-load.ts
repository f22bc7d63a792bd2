import { createHash, randomBytes } from 'node:crypto';

/** Writers at once, of which each writes one row after the other. */
const WRITERS = 3;
const MOST_BYTES = 300_000;
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
    readonly token: string,
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

  get = async (path: string): Promise<Reply> => replyOf(await this.send('GET', path));

  post = (path: string, body: object): Promise<Reply> => this.write('POST', path, body);

  patch = (path: string, body: object): Promise<Reply> => this.write('PATCH', path, body);

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

  private async write(method: string, path: string, body: object): Promise<Reply> {
    return replyOf(await this.send(method, path, JSON.stringify(body), { 'Content-Type': 'application/json' }));
  }

  private send(method: string, path: string, body?: string | Buffer, headers?: Record<string, string>) {
    const own = { Authorization: `Bearer ${this.token}`, ...headers };
    return fetch(`${this.url}/api/v1${path}`, { method, headers: own, body: body as BodyInit | undefined });
  }
}

async function replyOf(answer: Response): Promise<Reply> {
  return { status: answer.status, ...((await answer.json()) as Omit<Reply, 'status'>) };
}

const checksumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A new row of each of these collections, which has a text of its own. */
export const creations = (text: string): [path: string, body: object][] => [
  ['/posts', { title: text, content: text }],
  ['/products', { name: text, price: 1, stock: 5 }],
  ['/orders', { items: [{ product_id: 1, quantity: 1 }] }],
];

/** What the service has acknowledged up to a moment. */
export interface Acknowledged {
  /** The paths of rows, each with a text that its representation has. */
  rows: { path: string; text: string }[];
  uploads: { path: string; checksum: string }[];
  /** An access token of that time. */
  token: string;
}

/** Clients that create rows and uploads, one after the other, until they are stopped. */
export class BackupLoad {
  private readonly done: Acknowledged;
  private running = true;
  private clients: Promise<void>[] = [];
  private count = 0;

  private constructor(private readonly client: DemoClient) {
    this.done = { rows: [], uploads: [], token: client.token };
  }

  static async start(url: string, password: string): Promise<BackupLoad> {
    const load = new BackupLoad(await DemoClient.signIn(url, 'grace', password));
    await load.client.patch('/products/1', { stock: 1_000_000 });
    load.clients = [...Array.from({ length: WRITERS }, () => load.repeat(load.write)), load.repeat(load.upload)];
    return load;
  }

  get rows(): number {
    return this.done.rows.length;
  }

  get uploads(): number {
    return this.done.uploads.length;
  }

  acknowledged(): Acknowledged {
    return structuredClone(this.done);
  }

  /** @throws {Error} if a client has failed */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  private async repeat(step: () => Promise<void>): Promise<void> {
    while (this.running) await step();
  }

  private write = async (): Promise<void> => {
    const text = `Row ${this.count++}`;
    for (const [path, body] of creations(text)) {
      const { status, data } = await this.client.post(path, body);
      if (status === 201) this.done.rows.push({ path: `${path}/${data.id}`, text: path === '/orders' ? '"id"' : text });
    }
  };

  private upload = async (): Promise<void> => {
    const bytes = randomBytes(Math.ceil(Math.random() * MOST_BYTES));
    const path = await this.client.upload(bytes);
    if (path) this.done.uploads.push({ path, checksum: checksumOf(bytes) });
  };
}
