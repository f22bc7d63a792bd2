import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsSelect, Repository } from 'typeorm';
import { ApiError, conflict, insertRow, lockAndQuery, seconds, UnitOfWork } from '../platform';
import { Semaphore } from '../platform/features';
import { UploadErrors } from './upload-errors';
import { type Holder, keysOf } from './fair-slots';
import { Upload } from './upload.entity';
import type { Claims } from './upload-metadata';
import { UploadSettings } from './upload-settings';

/** Uploads that are being created at once, and how many of them one network may have: it may wait for a connection of its own. */
const CREATING = 3;
const CREATING_OF_NETWORK = 2;
const STATES = ['hash_state', 'next_offset', 'next_hash_state'] as const;

/** The attributes of a new upload. */
export type NewUpload = Claims & Pick<Upload, 'key' | 'size'>;

/** The state of an upload after some bytes are stored. */
export type Progress = Partial<Pick<Upload, 'status' | 'checksum' | 'media_type' | 'hash_state' | 'expires_at'>> & {
  offset: number;
};

/**
 * Writes the rows of uploads. Outside of the request's unit of work: its time limit may cancel the unit, and what has
 * arrived until then must be recorded.
 */
@Injectable()
export class UploadRows {
  /** Commits wait for the disk, which uploads keep busy. They must not occupy all connections. */
  private readonly writing = new Semaphore(2, Infinity);
  /** Nor for those that wait for each other's turn to create one. */
  private readonly creating = new Semaphore(CREATING, Infinity, (working) => working < CREATING_OF_NETWORK);

  constructor(
    @InjectRepository(Upload) private readonly uploads: Repository<Upload>,
    private readonly settings: UploadSettings,
  ) {}

  /**
   * Reserves the whole size of an upload in the user's quota. Expired uploads don't count.
   * @param requireRoom called with the number of bytes that this upload and others are still expected to bring, if they
   *   share a disk
   * @throws {ApiError} QUOTA_EXCEEDED
   */
  create(upload: NewUpload, holder: Holder, requireRoom?: (bytes: number) => Promise<void>): Promise<Upload> {
    const { UPLOAD_EXPIRY } = this.settings;
    const { size } = upload;
    const user_id = holder.user;
    const create = async (manager: EntityManager) => {
      await this.requireQuota(manager, user_id, size);
      if (requireRoom) await requireRoom(await promised(manager, user_id, size));
      const expires_at = new Date(Date.now() + seconds(UPLOAD_EXPIRY));
      return insertRow(manager, Upload, { ...upload, user_id, expires_at });
    };
    return this.creating.run(() => this.uploads.manager.transaction(create), undefined, keysOf(holder));
  }

  /** Reads all columns, including those for writers. @throws {EntityNotFoundError} @throws {ApiError} GONE */
  async find(key: string): Promise<Upload> {
    const columns = this.uploads.metadata.columns.map(({ propertyName }) => [propertyName, true]);
    const select = Object.fromEntries(columns) as FindOptionsSelect<Upload>;
    const upload = await UnitOfWork.outside(() => this.uploads.findOneOrFail({ select, where: { key } }));
    requireAlive(upload);
    return upload;
  }

  /** Records that all bytes are stored and the store is about to finalise them, with the hash state after them. */
  async announce({ id }: Upload, next_offset: number, next_hash_state: Buffer, holder: Holder): Promise<void> {
    await this.write(holder, () => this.uploads.update({ id }, { next_offset, next_hash_state }));
  }

  /** Moves the offset, if it is unchanged since the writer read it. @throws {ApiError} CONFLICT if it isn't */
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
    // One transaction at a time for each user: two concurrent ones would both see the same free quota.
    const [{ taken, count }] = await lockAndQuery<{ taken: number; count: number }>(
      manager,
      `quota ${userId}`,
      `SELECT coalesce(sum(size) FILTER (WHERE expires_at IS NULL OR expires_at > now()), 0)::bigint AS taken, count(*)
         FROM uploads WHERE user_id = $1`,
      [userId],
    );
    if (count >= UPLOAD_MAX_COUNT) throw tooMany(UPLOAD_MAX_COUNT);
    if (taken + size > UPLOAD_QUOTA) throw quotaExceeded(UPLOAD_QUOTA, taken);
  }

  private write<T>(holder: Holder, statement: () => Promise<T>): Promise<T> {
    return this.writing.run(() => UnitOfWork.detached(statement), undefined, keysOf(holder));
  }
}

/**
 * Bytes that uploads of all users are still expected to bring, on all instances. For each other user no more bytes
 * count than this user would have itself: promises cost nothing, so the user with most must not keep others out.
 */
async function promised(manager: EntityManager, userId: number, size: number): Promise<number> {
  const [{ bytes }] = await lockAndQuery<{ bytes: number }>(
    manager,
    'room',
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

/** @throws {ApiError} GONE for an expired upload */
export function requireAlive(upload: Upload): Upload {
  const { expires_at } = upload;
  if (expires_at && expires_at.getTime() < Date.now()) throw expired();
  return upload;
}

/** 410 for an upload that wasn't finished in time. */
export const expired = (): ApiError => new ApiError('GONE', { message: 'The upload was not finished in time' });

/** 409 for a chunk whose offset isn't that of the upload. */
export const offsetConflict = (): ApiError =>
  conflict([
    { field: 'Upload-Offset', rule: 'offset', message: 'is not the offset of the upload; send HEAD to learn it' },
  ]);

/** 413 for an upload that exceeds the user's quota. */
export const quotaExceeded = (quota: number, taken: number): ApiError =>
  new ApiError(UploadErrors.QUOTA_EXCEEDED, {
    details: `Your uploads have ${taken} bytes, and may have ${quota}; delete some`,
  });

/** 413 for a user with the greatest number of uploads. Even an empty upload takes a row and a file. */
export const tooMany = (limit: number): ApiError =>
  new ApiError(UploadErrors.QUOTA_EXCEEDED, {
    details: `You may have ${limit} uploads, and have as many; delete some`,
  });
