import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import { EntityNotFoundError, QueryFailedError, Repository } from 'typeorm';
import {
  type ApiError,
  type Caller,
  conflict,
  deleteRow,
  isAdmin,
  type Page,
  paginate,
  type Precondition,
  requireSelfOrAdmin,
  updateRow,
} from '../platform';
import { AuthenticationError } from '../platform/accounts';
import { Admission } from './admission';
import { ByteStore } from './bytes/byte-store';
import type { ListUploadsQuery } from './upload.dto';
import { Upload, UploadStatus, UploadVisibility } from './upload.entity';
import { UploadLocks } from './locks/upload-locks';
import { requireAlive } from './upload-rows';
import { UploadSettings } from './upload-settings';

@Injectable()
export class UploadsService {
  /** Separate from the slots of uploads, so that a deletion needn't wait for them. */
  private readonly removals: Admission;

  constructor(
    @InjectRepository(Upload) private readonly uploads: Repository<Upload>,
    private readonly bytes: ByteStore,
    private readonly locks: UploadLocks,
    { UPLOAD_MAX_OPEN, UPLOAD_MAX_OPEN_PER_USER }: UploadSettings,
  ) {
    this.removals = new Admission({ perUser: UPLOAD_MAX_OPEN_PER_USER, total: UPLOAD_MAX_OPEN }, 'removal');
  }

  list({ userId, ...query }: ListUploadsQuery, caller: Caller): Promise<Page<Upload>> {
    if (userId !== undefined) requireSelfOrAdmin(caller, userId);
    return paginate(this.uploads, query, {
      filter: { user_id: isAdmin(caller) ? userId : caller.id },
    });
  }

  async get(key: string, caller: Caller): Promise<Upload> {
    return requireOwn(await this.uploads.findOneByOrFail({ key }), caller);
  }

  /** @throws {ApiError} CONFLICT while bytes are missing */
  async getComplete(key: string, caller: Caller): Promise<Upload> {
    return requireComplete(await this.get(key, caller));
  }

  /**
   * The upload whose content is read. Without a token, a private upload and none are the same.
   * @throws {AuthenticationError}
   * @throws {ApiError} CONFLICT while bytes are missing
   */
  async getContentOf(key: string, caller: Caller | undefined): Promise<Upload> {
    const upload = await this.uploads.findOneBy({ key });
    if (upload?.visibility === UploadVisibility.PUBLIC) return requireComplete(requireAlive(upload));
    if (!caller) throw AuthenticationError.noToken();
    if (!upload) throw new EntityNotFoundError(Upload, { key });
    return requireComplete(requireOwn(upload, caller));
  }

  /** @throws {ApiError} CONFLICT for a picture that is shown */
  async setVisibility(
    key: string,
    visibility: UploadVisibility,
    caller: Caller,
    expected?: Precondition,
  ): Promise<Upload> {
    const { id } = await this.get(key, caller);
    return unlessShown(() => updateRow(this.uploads.manager, Upload, id, { visibility }, expected));
  }

  /** Deletes the row first: bytes without a row are swept, but a row without bytes could never be served. */
  async remove(key: string, caller: Caller, request: Request, expected?: Precondition): Promise<void> {
    const { id, user_id } = await this.uploads.findOneByOrFail({ key });
    requireSelfOrAdmin(caller, user_id);
    const remove = async () => {
      await unlessShown(() => deleteRow(this.uploads.manager, Upload, id, expected));
      await this.bytes.remove(key);
    };
    await this.removals.during(caller.id, request, () => this.locks.during(key, remove));
  }
}

function requireOwn(upload: Upload, caller: Caller): Upload {
  requireSelfOrAdmin(caller, upload.user_id);
  return requireAlive(upload);
}

function requireComplete(upload: Upload): Upload {
  if (upload.status !== UploadStatus.COMPLETE) throw incomplete();
  return upload;
}

/** The foreign key of `shown_pictures`, by which a picture that a row shows stays public. */
const SHOWN = 'shown_pictures_image_fkey';

async function unlessShown<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isOfShown(error) ? stillShown(error as Error) : error;
  }
}

const isOfShown = (error: unknown): boolean =>
  error instanceof QueryFailedError && (error.driverError as { constraint?: string }).constraint === SHOWN;

/** 409 for the end of a picture that a row shows. */
export const stillShown = (cause?: Error): ApiError =>
  conflict(
    [
      {
        field: 'key',
        rule: 'reference',
        message: 'this picture is the image of something else; take it from there first',
      },
    ],
    { cause },
  );

/** 409 for the content of an upload that isn't complete. */
export const incomplete = (): ApiError =>
  conflict([{ field: 'status', rule: 'incomplete', message: 'the upload is not complete, so it has no content yet' }]);
