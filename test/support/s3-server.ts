import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const PYTHON = 'python3';

/** Whether Python has moto's server: `pip install 'moto[s3,server]'`. */
export const hasS3Server = (): boolean => spawnSync(PYTHON, ['-c', 'import moto.server, flask']).status === 0;

/** Something that speaks S3, in a process of its own: moto, which keeps everything in memory. */
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

  /** What makes a service keep its uploads in that bucket. */
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

  /** The names of the objects. */
  objects(bucket: string): Promise<string[]> {
    return this.keys(`/${bucket}?list-type=2`);
  }

  /** The names of what the multipart uploads are to be. */
  multiparts(bucket: string): Promise<string[]> {
    return this.keys(`/${bucket}?uploads`);
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
      // It tells of each request, and must not fill the pipe.
      if (said.length < 10_000) said += text.toString();
      const [, url] = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? [];
      if (url) resolve(url);
    });
    stderr!.once('close', () => reject(new Error(`The S3 server ended: ${said}`)));
  });
}
