import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { requireSelfOrAdmin } from '../../auth/auth-errors';
import { type Caller, isAdmin } from '../../auth/caller';
import { ApiError } from '../../conventions/errors/api-error';
import type { Page } from '../../conventions/lists/page';
import { paginate } from '../../conventions/lists/paginate';
import { deleteRow } from '../../database/delete-row';
import { ByteStore } from './byte-store';
import type { ListUploadsQuery } from './upload.dto';
import { Upload, UploadStatus } from './upload.entity';
import { UploadLocks } from './upload-locks';
import { requireAlive } from './upload-rows';

@Injectable()
export class UploadsService {
  constructor(
    @InjectRepository(Upload) private readonly uploads: Repository<Upload>,
    private readonly bytes: ByteStore,
    private readonly locks: UploadLocks,
  ) {}

  list({ userId, ...query }: ListUploadsQuery, caller: Caller): Promise<Page<Upload>> {
    if (userId !== undefined) requireSelfOrAdmin(caller, userId);
    return paginate(this.uploads, query, {
      searchable: ['filename'],
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

  /** The row first: bytes without a row are swept, a row without bytes would be a promise that nobody can keep. */
  async remove(key: string, caller: Caller): Promise<void> {
    const { id, user_id } = await this.uploads.findOneByOrFail({ key });
    requireSelfOrAdmin(caller, user_id);
    await this.locks.during(key, async () => {
      await deleteRow(this.uploads.manager, Upload, id);
      await this.bytes.remove(key);
    });
  }
}

/** 409 for the content of an upload that isn't complete. */
export const incomplete = (): ApiError =>
  new ApiError('CONFLICT', { details: 'status: the upload is not complete, so it has no content yet' });
