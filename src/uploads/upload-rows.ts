import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsSelect, Repository } from 'typeorm';
import { ApiError, insertRow, Semaphore, UnitOfWork } from '../platform';
import { UploadErrors } from './upload-errors';
import { type Holder, keysOf } from './places';
import { Upload } from './upload.entity';
import type { Claims } from './upload-metadata';
import { UploadSettings } from './upload-settings';

const MILLISECOND = 1_000;
const STATES = ['hash_state', 'next_offset', 'next_hash_state'] as const;

/** What is said of an upload when it is created. */
export type NewUpload = Claims & Pick<Upload, 'key' | 'size'>;

/** Where an upload stands when some of its bytes are safe. */
export type Progress = Partial<Pick<Upload, 'status' | 'checksum' | 'media_type' | 'hash_state' | 'expires_at'>> & {
  offset: number;
};

/**
 * The rows of uploads that are being written. Not as part of the request's own unit of work: that may be called off, by its
 * time limit, and what has arrived by then is recorded all the same.
 */
@Injectable()
export class UploadRows {
  /** A commit waits for the disk, which uploads keep busy: it must not be for all connections at once. */
  private readonly writing = new Semaphore(2, Infinity);
  /** Nor for those that wait for each other's turn to create one. */
  private readonly creating = new Semaphore(2, Infinity);

  constructor(
    @InjectRepository(Upload) private readonly uploads: Repository<Upload>,
    private readonly settings: UploadSettings,
  ) {}

  /**
   * Takes the room of the whole upload; those whose time is up have none.
   * @param requireRoom told how many bytes this upload and the others are still to bring, as far as these count, where they
   * share a disk
   * @throws {ApiError} QUOTA_EXCEEDED
   */
  create(upload: NewUpload, holder: Holder, requireRoom?: (bytes: number) => Promise<void>): Promise<Upload> {
    const { UPLOAD_EXPIRY } = this.settings;
    const { size } = upload;
    const user_id = holder.user;
    const create = async (manager: EntityManager) => {
      await this.requireQuota(manager, user_id, size);
      if (requireRoom) await requireRoom(await promised(manager, user_id, size));
      const expires_at = new Date(Date.now() + UPLOAD_EXPIRY * MILLISECOND);
      return insertRow(manager, Upload, { ...upload, user_id, expires_at });
    };
    return this.creating.run(() => this.uploads.manager.transaction(create), undefined, keysOf(holder));
  }

  /** With all that only a writer needs. @throws {EntityNotFoundError} @throws {ApiError} GONE */
  async find(key: string): Promise<Upload> {
    const columns = this.uploads.metadata.columns.map(({ propertyName }) => [propertyName, true]);
    const select = Object.fromEntries(columns) as FindOptionsSelect<Upload>;
    const upload = await UnitOfWork.outside(() => this.uploads.findOneOrFail({ select, where: { key } }));
    requireAlive(upload);
    return upload;
  }

  /** All bytes are safe, and the store is about to finish them; with the state of the hash there. */
  async announce({ id }: Upload, next_offset: number, next_hash_state: Buffer, holder: Holder): Promise<void> {
    await this.write(holder, () => this.uploads.update({ id }, { next_offset, next_hash_state }));
  }

  /** Moves the offset, if it still is where the writer found it. @throws {ApiError} CONFLICT when it isn't */
  async advance(upload: Upload, { offset, ...others }: Progress, holder: Holder): Promise<Upload> {
    const forgotten = Object.fromEntries(STATES.map((name) => [name, null]));
    const changes = { ...forgotten, ...others, offset };
    const where = { id: upload.id, offset: upload.offset };
    const { affected } = await this.write(holder, () => this.uploads.update(where, changes));
    if (affected !== 1) throw offsetConflict();
    return Object.assign(upload, changes);
  }

  async forget({ id }: Upload, holder: Holder): Promise<void> {
    await this.write(holder, () => this.uploads.delete({ id }));
  }

  private async requireQuota(manager: EntityManager, userId: number, size: number): Promise<void> {
    const { UPLOAD_QUOTA, UPLOAD_MAX_COUNT } = this.settings;
    // One after the other for each user: of two at once each would see the room that only one of them can have.
    await inOrder(manager, `quota ${userId}`);
    const [{ taken, count }] = await manager.query<{ taken: number; count: number }[]>(
      `SELECT coalesce(sum(size) FILTER (WHERE expires_at IS NULL OR expires_at > now()), 0)::bigint AS taken, count(*)
         FROM uploads WHERE user_id = $1`,
      [userId],
    );
    if (count >= UPLOAD_MAX_COUNT) throw tooMany(UPLOAD_MAX_COUNT);
    if (taken + size > UPLOAD_QUOTA) throw quotaExceeded(UPLOAD_QUOTA, taken);
  }

  private write<T>(holder: Holder, statement: () => Promise<T>): Promise<T> {
    return this.writing.run(() => UnitOfWork.outside(statement), undefined, keysOf(holder));
  }
}

/** Until the transaction ends nobody else gets beyond this. */
async function inOrder(manager: EntityManager, what: string): Promise<void> {
  await manager.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`resource-api: ${what}`]);
}

/**
 * Bytes that a user is still to bring with a new upload, and all others, by all instances. Of another only as many count as the
 * user would have itself: a promise costs nothing, and whoever is promised most must not keep everybody else out.
 */
async function promised(manager: EntityManager, userId: number, size: number): Promise<number> {
  await inOrder(manager, 'room');
  const [{ bytes }] = await manager.query<{ bytes: number }[]>(
    `WITH shares AS (
       SELECT user_id, sum(size - "offset") AS missing FROM uploads
        WHERE status = 'UPLOADING' AND expires_at > now() GROUP BY user_id),
     own AS (SELECT $2 + coalesce(sum(missing), 0) AS bytes FROM shares WHERE user_id = $1)
     SELECT (bytes + (SELECT coalesce(sum(least(missing, bytes)), 0) FROM shares WHERE user_id <> $1))::bigint AS bytes
       FROM own`,
    [userId, size],
  );
  return bytes;
}

/** @throws {ApiError} GONE for one whose time is up */
export function requireAlive({ expires_at }: Upload): void {
  if (expires_at && expires_at.getTime() < Date.now()) throw expired();
}

/** 410 for an upload that wasn't finished in time. */
export const expired = (): ApiError => new ApiError('GONE', { message: 'The upload was not finished in time' });

/** 409 for bytes that don't go on where the upload stands. */
export const offsetConflict = (): ApiError =>
  new ApiError('CONFLICT', { details: 'Upload-Offset: is not where the upload stands; ask for it by HEAD' });

/** 413 for an upload that the user has no room for. */
export const quotaExceeded = (quota: number, taken: number): ApiError =>
  new ApiError(UploadErrors.QUOTA_EXCEEDED, {
    details: `All your uploads together may have ${quota} bytes, and have ${taken}; delete some`,
  });

/** 413 for a user who has as many uploads as anybody may have, which take a row and a file each, be they empty. */
export const tooMany = (limit: number): ApiError =>
  new ApiError(UploadErrors.QUOTA_EXCEEDED, {
    details: `You may have ${limit} uploads, and have as many; delete some`,
  });
