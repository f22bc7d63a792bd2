import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import { Repository } from 'typeorm';
import {
  ApiError,
  type Caller,
  deleteRow,
  isAdmin,
  type Page,
  paginate,
  type Precondition,
  requireSelfOrAdmin,
} from '../platform';
import { Admission } from './admission';
import { ByteStore } from './bytes/byte-store';
import type { ListUploadsQuery } from './upload.dto';
import { Upload, UploadStatus } from './upload.entity';
import { UploadLocks } from './tus/upload-locks';
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
    this.removals = new Admission({ perUser: UPLOAD_MAX_OPEN_PER_USER, total: UPLOAD_MAX_OPEN });
  }

  list({ userId, ...query }: ListUploadsQuery, caller: Caller): Promise<Page<Upload>> {
    if (userId !== undefined) requireSelfOrAdmin(caller, userId);
    return paginate(this.uploads, query, {
      filter: { user_id: isAdmin(caller) ? userId : caller.id },
    });
  }

  async get(key: string, caller: Caller): Promise<Upload> {
    const upload = await this.uploads.findOneByOrFail({ key });
    requireSelfOrAdmin(caller, upload.user_id);
    requireAlive(upload);
    return upload;
  }

  /** @throws {ApiError} CONFLICT while bytes are missing */
  async getComplete(key: string, caller: Caller): Promise<Upload> {
    const upload = await this.get(key, caller);
    if (upload.status !== UploadStatus.COMPLETE) throw incomplete();
    return upload;
  }

  /** Deletes the row first: bytes without a row are swept, but a row without bytes could never be served. */
  async remove(key: string, caller: Caller, request: Request, expected?: Precondition): Promise<void> {
    const { id, user_id } = await this.uploads.findOneByOrFail({ key });
    requireSelfOrAdmin(caller, user_id);
    const remove = async () => {
      await deleteRow(this.uploads.manager, Upload, id, expected);
      await this.bytes.remove(key);
    };
    await this.removals.during(caller.id, request, () => this.locks.during(key, remove));
  }
}

/** 409 for the content of an upload that isn't complete. */
export const incomplete = (): ApiError =>
  new ApiError('CONFLICT', { details: 'status: the upload is not complete, so it has no content yet' });
