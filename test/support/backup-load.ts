import { randomBytes } from 'node:crypto';
import { checksumOf, DemoClient } from './demo-client';

/** Writers at once, of which each writes one row after the other. */
const WRITERS = 3;
const MOST_BYTES = 300_000;
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
