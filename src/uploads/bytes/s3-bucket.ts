import type { Readable } from 'node:stream';
import { type MetadataValue, type Options, S3Store } from '@tus/s3-store';
import type { ByteRange } from './byte-store';
import { reportContentGone } from './content-gone';
import { RecentValues } from './recent-values';
import { isNotFound } from './s3-errors';
import { areConsecutive, isTailBefore, type Part, tailOf } from './s3-parts';
import { send } from './s3-send';
import { Spool } from './spool';
import { mebibytes } from '../../platform';

/** The number of uploads whose multipart upload ids are cached. */
const REMEMBERED = 1_000;

/** An object or a multipart upload in the bucket. */
export interface Found {
  name: string;
  since: Date;
}

/**
 * Stores uploads as multipart uploads of S3. It uses the library's calls except `write`, which deletes the beginning of
 * a part before it is stored elsewhere, so that a crash would lose it. Here the size of an upload determines where its
 * parts begin, so a part can be replaced until all of them are completed to one object: a writer that continues at an
 * offset sends the part around it again. The bytes of that part before the offset come from an object of their own, the
 * tail, which is named after the offset and deleted when a later offset is acknowledged. So acknowledged bytes are always
 * stored somewhere, even if a writer that has lost its lock is late.
 */
export class S3Bucket extends S3Store {
  /** @param directory where parts are gathered */
  constructor(
    config: Options['s3ClientConfig'],
    private readonly directory: string,
  ) {
    super({ s3ClientConfig: config, partSize: mebibytes(8), cache: new RecentValues(REMEMBERED), useTags: false });
  }

  partSize(size: number): number {
    return this.calcOptimalPartSize(size);
  }

  async append(key: string, offset: number, bytes: AsyncIterable<Buffer>): Promise<number> {
    const upload = await this.getMetadata(key);
    const size = upload.file.size!;
    const partSize = this.partSize(size);
    let number = Math.floor(offset / partSize) + 1;
    let end = offset;
    const spool = await Spool.open(this.directory);
    try {
      await this.loadTail(key, offset, offset % partSize, spool);
      await this.removeTailsBefore(key, offset);
      for await (const chunk of bytes) {
        for (let rest = chunk; rest.length > 0;) {
          const fitting = rest.subarray(0, partSize - spool.length);
          await spool.write(fitting);
          end += fitting.length;
          rest = rest.subarray(fitting.length);
          if (spool.length === partSize) await this.sendPart(upload, number++, spool);
        }
      }
      if (end === offset || spool.length === 0) return end;
      if (end === size) await this.sendPart(upload, number, spool);
      else await this.saveTail(key, end, spool);
      return end;
    } finally {
      await spool.close();
    }
  }

  /** True if all bytes before the offset are stored. */
  async holds(key: string, offset: number): Promise<boolean> {
    try {
      const partSize = this.partSize((await this.getMetadata(key)).file.size!);
      const whole = Math.floor(offset / partSize);
      const parts = (await this.retrieveParts(key)) as Part[];
      if (!areConsecutive(parts.slice(0, whole), whole, partSize)) return false;
      if (offset % partSize === 0) return true;
      const tail = await this.client.headObject({ Bucket: this.bucket, Key: tailOf(key, offset) });
      return tail.ContentLength === offset % partSize;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // A finished upload is one object without parts.
      return offset > 0 && this.isFinished(key, offset);
    }
  }

  /** Completes the parts to one object. A second call does nothing, even after a crash. */
  async finish(key: string, size: number): Promise<void> {
    try {
      const upload = await this.getMetadata(key);
      const partSize = this.partSize(size);
      const count = Math.ceil(size / partSize);
      // An empty upload has one empty part, which the library adds.
      const parts = (await this.retrieveParts(key)).slice(0, Math.max(count, 1));
      const last = parts.at(count - 1)?.Size === size - (count - 1) * partSize;
      if (count > 0 && !(last && areConsecutive(parts.slice(0, -1), count - 1, partSize))) throw reportContentGone(key);
      await this.finishMultipartUpload(upload, parts);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (!(await this.isFinished(key, size))) throw reportContentGone(key);
    }
    await this.tidy(key);
  }

  async readRange(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const { Body } = await this.client.getObject({ Bucket: this.bucket, Key: key, Range });
    return Body as Readable;
  }

  /** Deletes everything of an upload, even if a crash has left only some of it. */
  override async remove(key: string): Promise<void> {
    for await (const { name, id } of this.begun(key)) {
      if (name !== key) continue;
      const upload = { Bucket: this.bucket, Key: key, UploadId: id };
      await this.client.abortMultipartUpload(upload).catch(unlessMissing);
    }
    await this.client.deleteObject({ Bucket: this.bucket, Key: key });
    await this.tidy(key);
  }

  /** All objects and all unfinished multipart uploads. */
  async *everything(): AsyncIterable<Found> {
    yield* this.objects('');
    yield* this.begun('');
  }

  /** Loads the acknowledged bytes of the part before the offset. */
  private async loadTail(key: string, offset: number, length: number, spool: Spool): Promise<void> {
    if (length === 0) return;
    const tail = await this.readRange(tailOf(key, offset)).catch(unlessMissing);
    if (!tail) throw reportContentGone(key);
    for await (const chunk of tail as AsyncIterable<Buffer>) await spool.write(chunk);
    if (spool.length !== length) throw reportContentGone(key);
  }

  /** Those of later offsets may be another writer's. */
  private async removeTailsBefore(key: string, offset: number): Promise<void> {
    if (offset === 0) return;
    for await (const { name } of this.objects(`${key}.`)) {
      if (isTailBefore(name, offset)) await this.client.deleteObject({ Bucket: this.bucket, Key: name });
    }
  }

  private async saveTail(key: string, offset: number, spool: Spool): Promise<void> {
    const tail = { Bucket: this.bucket, Key: tailOf(key, offset) };
    await send(spool, ({ body, ...options }) => this.client.putObject({ ...tail, ...body }, options));
  }

  private async sendPart(upload: MetadataValue, number: number, spool: Spool): Promise<void> {
    const part = { Bucket: this.bucket, Key: upload.file.id, UploadId: upload['upload-id'], PartNumber: number };
    await send(spool, ({ body, ...options }) => this.client.uploadPart({ ...part, ...body }, options));
    spool.clear();
  }

  private async isFinished(key: string, size: number): Promise<boolean> {
    const object = await this.client.headObject({ Bucket: this.bucket, Key: key }).catch(unlessMissing);
    return object?.ContentLength === size;
  }

  /** Deletes what only an unfinished upload needs. */
  private async tidy(key: string): Promise<void> {
    for await (const { name } of this.objects(`${key}.`)) {
      await this.client.deleteObject({ Bucket: this.bucket, Key: name });
    }
    await this.clearCache(key);
  }

  private async *objects(Prefix: string): AsyncIterable<Found> {
    for (let ContinuationToken: string | undefined, more = true; more;) {
      const page = await this.client.listObjectsV2({ Bucket: this.bucket, Prefix, ContinuationToken });
      for (const { Key, LastModified } of page.Contents ?? []) yield { name: Key!, since: LastModified! };
      ContinuationToken = page.NextContinuationToken;
      more = page.IsTruncated === true;
    }
  }

  private async *begun(Prefix: string): AsyncIterable<Found & { id: string }> {
    for (let KeyMarker: string | undefined, UploadIdMarker: string | undefined, more = true; more;) {
      const where = { Bucket: this.bucket, Prefix, KeyMarker, UploadIdMarker };
      const page = await this.client.listMultipartUploads(where);
      for (const { Key, Initiated, UploadId } of page.Uploads ?? []) {
        yield { name: Key!, since: Initiated!, id: UploadId! };
      }
      ({ NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page);
      more = page.IsTruncated === true;
    }
  }
}

function unlessMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
