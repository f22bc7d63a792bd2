import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { DataStore, Upload as TusUpload } from '@tus/server';
import { ApiError } from '../../platform';
import type { ByteStore } from '../bytes/byte-store';
import { Checksum } from '../bytes/checksum';
import { reportContentGone } from '../bytes/content-gone';
import { mediaTypeOf } from '../media-type';
import type { Holder } from '../fair-slots';
import { Segments } from './segments';
import { type Upload, UploadStatus } from '../upload.entity';
import type { ChunkChecksum } from './upload-headers';
import type { Claims } from '../upload-metadata';
import { offsetConflict, requireAlive, type UploadRows } from '../upload-rows';
import { UploadErrors } from '../upload-errors';

export interface TusStoreOptions {
  rows: UploadRows;
  bytes: ByteStore;
  /** The owner of a new upload, on whose behalf bytes are written. */
  holder: Holder;
  /** The client's claims about a new upload. */
  claims?: Claims;
  /** The checksum of all bytes of this request. */
  checksum?: ChunkChecksum;
  /** Called before bytes count. Throws if the caller may not write any more. */
  requireCaller: () => Promise<void>;
}

/**
 * The store of tus' server for one request: bytes go to a byte store, and the row follows. First the bytes are stored
 * durably, then one statement moves the offset and saves the checksum's state. So after a crash, the offset always
 * counts bytes that are stored, and the state belongs to exactly these bytes.
 */
export class TusStore extends DataStore {
  override extensions = ['creation', 'creation-with-upload', 'termination'];
  private upload: Upload;

  constructor(private readonly options: TusStoreOptions) {
    super();
  }

  /** The row of the upload after this request; undefined before there is one. */
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

  /** Called under the lock: nobody else writes. */
  override async getUpload(key: string): Promise<TusUpload> {
    this.upload = await this.options.rows.find(key);
    await this.reconcile();
    return new TusUpload({ id: key, size: this.upload.size, offset: this.upload.offset });
  }

  override async write(stream: Readable): Promise<number> {
    const { checksum } = this.options;
    const whole = checksum === undefined ? undefined : createHash(checksum.algorithm);
    const segments = new Segments(stream);
    if (!(await segments.begin())) {
      // An empty body has a checksum too.
      if (whole && whole.digest('base64') !== checksum!.digest) throw checksumMismatch();
      return this.upload.offset;
    }
    // Its checksum has no state any more, and to read all its bytes again would take long.
    if (this.upload.status === UploadStatus.COMPLETE) throw offsetConflict();
    const sum = await this.sum();
    while (await segments.begin()) await this.append(segments, sum, whole);
    return this.upload.offset;
  }

  private async append(segments: Segments, sum: Checksum, whole: Hash | undefined): Promise<void> {
    const { bytes, rows, holder, checksum, requireCaller } = this.options;
    const { upload } = this;
    // Bytes with a checksum of their own count together or not at all.
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
    // An upload may take hours. Meanwhile the session or the upload may end.
    await requireCaller();
    requireAlive(upload);
    if (next === upload.size) await this.complete(sum);
    else await rows.advance(upload, { offset: next, hash_state: sum.state }, holder);
  }

  private async complete(sum: Checksum): Promise<void> {
    const { rows, bytes, holder } = this.options;
    const { key, size, media_type: claimed } = this.upload;
    // If the service ends between the two steps, the row shows that only finishing is left.
    if (bytes.sealing) await rows.announce(this.upload, size, sum.state, holder);
    await bytes.finish(key, size);
    const media_type = await mediaTypeOf(bytes, key, size, claimed);
    const checksum = sum.digest();
    const status = UploadStatus.COMPLETE;
    await rows.advance(this.upload, { offset: size, status, checksum, media_type, expires_at: null }, holder);
  }

  /** Adjusts the row to the store, if the last writer ended between the two steps. */
  private async reconcile(): Promise<void> {
    const { rows, bytes, holder } = this.options;
    const { upload } = this;
    const { key, size, offset, next_offset, next_hash_state, status } = upload;
    if (status === UploadStatus.COMPLETE) return;
    if (next_offset === size) return this.complete(await Checksum.of(next_hash_state));
    const stored = await bytes.offsetOf(key, offset);
    if (stored === undefined) throw reportContentGone(key);
    if (stored >= offset) return;
    // A disk has lost bytes that it had confirmed.
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

/** 460, as the protocol says: the bytes don't count. */
export const checksumMismatch = (): ApiError => new ApiError(UploadErrors.CHECKSUM_MISMATCH);
