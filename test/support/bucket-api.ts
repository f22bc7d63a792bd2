import { query } from '../../src/platform/testing';
import { UploadSweep } from '../../src/uploads/upload-sweep';
import { S3Server } from './s3-server';
import { TcpProxy } from './tcp-proxy';
import { TestApi } from './test-api';
import { startApp } from './test-app';
import { keyOf } from './uploading';

const BUCKET = 'uploads-of-a-test';

/** The application with its uploads in a bucket, which it reaches through a proxy. */
export class BucketApi extends TestApi {
  readonly proxy = new TcpProxy();
  settings: Record<string, string>;
  s3: S3Server;
  readonly bucket = BUCKET;

  async start(limits: Record<string, string>): Promise<void> {
    this.s3 = await S3Server.start();
    await this.s3.createBucket(BUCKET);
    // Without the slash at its end.
    const endpoint = (await this.proxy.start(this.s3.url)).replace(/\/$/, '');
    this.settings = { ...limits, ...this.s3.settings(BUCKET, endpoint) };
    this.app = await startApp({ settings: this.settings });
  }

  async stop(): Promise<void> {
    await this.app?.stop();
    this.proxy.stop();
    await this.s3?.stop();
  }

  /** What is left of an upload in the bucket, with `*` for its key. */
  leftOf(path: string): Promise<string[]> {
    return this.s3.leftOf(BUCKET, keyOf(path));
  }

  /** Makes an upload so old that a sweep looks for its bytes. */
  async age(path: string): Promise<void> {
    const text = `UPDATE uploads SET created_at = now() - interval '2 hours' WHERE key = $1`;
    await query(this.app.databaseUrl, text, [keyOf(path)]);
  }

  sweep(): Promise<void> {
    return this.app.nest.get(UploadSweep, { strict: false }).sweep();
  }
}

/** Starts it for the tests of a file, and stops it after them. */
export function useBucketApi(limits: Record<string, string>): BucketApi {
  const api = new BucketApi();
  beforeAll(() => api.start(limits));
  afterAll(() => api.stop());
  return api;
}
