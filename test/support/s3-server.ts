import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const PYTHON = 'python3';

/** Whether Python has moto's server: `pip install 'moto[s3,server]'`. */
const hasS3Server = (): boolean => spawnSync(PYTHON, ['-c', 'import moto.server, flask']).status === 0;

const available = hasS3Server();
/** For tests that need S3: their title says why they are skipped. */
export const describeWithS3 = (name: string, tests: () => void) =>
  available
    ? describe(name, tests)
    : describe.skip(`${name} (skipped: python3 has no moto.server, see pip install 'moto[s3,server]')`, tests);

/** An S3 server in a process of its own: moto, which keeps everything in memory. */
export class S3Server {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<S3Server> {
    const child = spawn(PYTHON, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return new S3Server(child, await announcedUrl(child));
  }

  /** The settings of a service that stores its uploads in the bucket. */
  settings(bucket: string, endpoint = this.url): Record<string, string> {
    return {
      S3_BUCKET: bucket,
      S3_REGION: 'us-east-1',
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: 'test',
      S3_SECRET_ACCESS_KEY: 'a secret of a test',
    };
  }

  async createBucket(bucket: string): Promise<void> {
    const { status } = await fetch(`${this.url}/${bucket}`, { method: 'PUT' });
    if (status !== 200) throw new Error(`No bucket: ${status}`);
  }

  /** The names of all objects. */
  objects(bucket: string): Promise<string[]> {
    return this.keys(`/${bucket}?list-type=2`);
  }

  /** The object names of unfinished multipart uploads. */
  multiparts(bucket: string): Promise<string[]> {
    return this.keys(`/${bucket}?uploads`);
  }

  /** What is in the bucket below that key, with `*` for the key: objects, and multipart uploads that aren't complete. */
  async leftOf(bucket: string, key: string): Promise<string[]> {
    const multiparts = (await this.multiparts(bucket)).map((name) => `${name} (multipart)`);
    const names = [...(await this.objects(bucket)), ...multiparts];
    return names.filter((name) => name.startsWith(key)).map((name) => name.replace(key, '*'));
  }

  async stop(): Promise<void> {
    this.process.kill();
    await once(this.process, 'exit');
  }

  private async keys(path: string): Promise<string[]> {
    const text = await (await fetch(this.url + path)).text();
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key);
  }
}

async function announcedUrl({ stderr }: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    stderr!.on('data', (text: Buffer) => {
      // It logs each request, which must not fill the pipe.
      if (said.length < 10_000) said += text.toString();
      const [, url] = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? [];
      if (url) resolve(url);
    });
    stderr!.once('close', () => reject(new Error(`The S3 server ended: ${said}`)));
  });
}
