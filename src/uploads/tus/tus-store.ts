import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { DataStore, Upload as TusUpload } from '@tus/server';
import { ApiError } from '../../platform';
import type { ByteStore } from '../bytes/byte-store';
import { Checksum } from '../bytes/checksum';
import { lostBytes } from '../bytes/lost-bytes';
import { mediaTypeOf } from '../media-type';
import type { Holder } from '../places';
import { Segments } from './segments';
import { type Upload, UploadStatus } from '../upload.entity';
import type { ChunkChecksum } from './upload-headers';
import type { Claims } from '../upload-metadata';
import { requireAlive, type UploadRows } from '../upload-rows';
import { UploadErrors } from '../upload-errors';

export interface TusStoreOptions {
  rows: UploadRows;
  bytes: ByteStore;
  /** Whose a new upload is, and on whose behalf bytes are written. */
  holder: Holder;
  /** What is said of a new upload. */
  claims?: Claims;
  /** What all the bytes of this request together must have. */
  checksum?: ChunkChecksum;
  /** Called before bytes count. Throws when the caller may not write any more, however the request began. */
  requireCaller: () => Promise<void>;
}

/**
 * What tus' server writes to, for one request: the bytes go into a store, and their row keeps step. First they are safe, then
 * the offset moves, and with it the state of the checksum, in one statement. So whatever a crash leaves behind, the offset
 * stands for bytes that are there, and the state for exactly those.
 */
export class TusStore extends DataStore {
  override extensions = ['creation', 'creation-with-upload', 'termination'];
  private upload: Upload;

  constructor(private readonly options: TusStoreOptions) {
    super();
  }

  /** The row of the upload as this request has left it; undefined before there is one. */
  get row(): Upload | undefined {
    return this.upload;
  }

  override async create(file: TusUpload): Promise<TusUpload> {
    const { rows, bytes, holder, claims } = this.options;
    const upload = { key: file.id, size: file.size!, ...claims! };
    this.upload = await rows.create(upload, holder, bytes.finite ? (missing) => bytes.requireRoom(missing) : undefined);
    await bytes.create(file.id, file.size!, holder);
    if (file.size === 0) await this.complete(await Checksum.of());
    return file;
  }

  /** Under the lock: nobody else writes. */
  override async getUpload(key: string): Promise<TusUpload> {
    this.upload = await this.options.rows.find(key);
    await this.reconcile();
    return new TusUpload({ id: key, size: this.upload.size, offset: this.upload.offset });
  }

  override async write(stream: Readable): Promise<number> {
    const { checksum } = this.options;
    const whole = checksum === undefined ? undefined : createHash(checksum.algorithm);
    const segments = new Segments(stream);
    const sum = await this.sum();
    // No bytes have a checksum too.
    if (whole && !(await segments.begin()) && whole.digest('base64') !== checksum!.digest) throw checksumMismatch();
    while (await segments.begin()) await this.append(segments, sum, whole);
    return this.upload.offset;
  }

  private async append(segments: Segments, sum: Checksum, whole: Hash | undefined): Promise<void> {
    const { bytes, rows, holder, checksum, requireCaller } = this.options;
    const { upload } = this;
    // Bytes that have a checksum of their own count together or not at all.
    const limits = whole
      ? { size: Infinity, time: Infinity }
      : { size: bytes.segmentSize(upload.offset, upload.size), time: bytes.segmentTime };
    let next = upload.offset;
    const onChunk = (chunk: Buffer) => {
      next += chunk.length;
      sum.update(chunk);
      whole?.update(chunk);
    };
    const onLast = () => {
      if (whole && whole.digest('base64') !== checksum!.digest) throw checksumMismatch();
    };
    try {
      const chunks = segments.segment(limits, onChunk, onLast);
      await bytes.append(upload.key, upload.offset, chunks, upload.size - upload.offset, holder);
    } catch (error) {
      throw segments.failure ?? error;
    }
    // Bytes may take hours, in which the session or the upload ends.
    await requireCaller();
    requireAlive(upload);
    if (next === upload.size) await this.complete(sum);
    else await rows.advance(upload, { offset: next, hash_state: sum.state }, holder);
  }

  private async complete(sum: Checksum): Promise<void> {
    const { rows, bytes, holder } = this.options;
    const { key, size, media_type: claimed } = this.upload;
    // Should the service end between the two, the row says that all that is missing is to finish.
    if (bytes.sealing) await rows.announce(this.upload, size, sum.state, holder);
    await bytes.finish(key, size);
    const media_type = await mediaTypeOf(bytes, key, size, claimed);
    const checksum = sum.digest();
    const status = UploadStatus.COMPLETE;
    await rows.advance(this.upload, { offset: size, status, checksum, media_type, expires_at: null }, holder);
  }

  /** Brings the row to where the store is, when the last writer ended between the two. */
  private async reconcile(): Promise<void> {
    const { rows, bytes, holder } = this.options;
    const { upload } = this;
    const { key, size, offset, next_offset, next_hash_state, status } = upload;
    if (status === UploadStatus.COMPLETE) return;
    if (next_offset === size) return this.complete(await Checksum.of(next_hash_state));
    const stored = await bytes.offsetOf(key, offset);
    if (stored === undefined) throw lostBytes(key);
    if (stored >= offset) return;
    // A disk that lost what it had promised to keep.
    await rows.advance(upload, { offset: stored, hash_state: (await this.rehash(stored)).state }, holder);
  }

  private sum(): Promise<Checksum> {
    const { hash_state, offset } = this.upload;
    return hash_state || offset === 0 ? Checksum.of(hash_state) : this.rehash(offset);
  }

  private async rehash(end: number): Promise<Checksum> {
    const sum = await Checksum.of();
    if (end === 0) return sum;
    const stored = await this.options.bytes.read(this.upload.key, { start: 0, end: end - 1 });
    for await (const chunk of stored as AsyncIterable<Buffer>) sum.update(chunk);
    return sum;
  }
}

/** 460, as the protocol has it: nothing of the bytes is kept. */
export const checksumMismatch = (): ApiError => new ApiError(UploadErrors.CHECKSUM_MISMATCH);
