import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EntityNotFoundError, Repository } from 'typeorm';
import { type ApiError, type Caller, conflict, seconds } from '../../platform';
import { UserStatus } from '../../resources/users/user.entity';
import { ofLink } from '../content-terms';
import { Upload, UploadStatus } from '../upload.entity';
import type { Opened } from '../upload-content';
import { UploadsService } from '../uploads.service';
import { LinkSeal } from './link-seal';

/** A link without the path of its upload. */
export interface Link {
  text: string;
  expiresAt: Date;
}

@Injectable()
export class UploadLinksService {
  constructor(
    @InjectRepository(Upload) private readonly uploads: Repository<Upload>,
    private readonly service: UploadsService,
    private readonly links: LinkSeal,
  ) {}

  /** @throws {ApiError} CONFLICT for an upload that isn't complete, or whose owner is suspended or deleted */
  async create(key: string, expiresIn: number, caller: Caller): Promise<Link> {
    await this.service.getComplete(key, caller);
    if (!(await this.findShareable(key))) throw ownerIsGone();
    const expiry = Math.ceil(Date.now() / seconds(1)) + expiresIn;
    return { text: this.links.seal(key, expiry), expiresAt: new Date(seconds(expiry)) };
  }

  /**
   * The upload that a link opens. There is one error for all reasons: an altered link must not tell whether there is an upload.
   * @throws {EntityNotFoundError}
   */
  async open(key: string, link: string): Promise<Opened> {
    const expiry = this.links.open(key, link);
    if (expiry === undefined) throw noUpload(key);
    const remaining = seconds(expiry) - Date.now();
    const upload = remaining > 0 ? await this.findShareable(key) : null;
    if (!upload) throw noUpload(key);
    return { upload, terms: ofLink(remaining) };
  }

  /** The complete upload, unless its owner is suspended or deleted: a link acts for the owner. */
  private findShareable(key: string): Promise<Upload | null> {
    return this.uploads
      .createQueryBuilder('upload')
      .innerJoin('upload.user', 'owner', 'owner.status = :active', { active: UserStatus.ACTIVE })
      .where('upload.key = :key AND upload.status = :complete', { key, complete: UploadStatus.COMPLETE })
      .getOne();
  }
}

const noUpload = (key: string) => new EntityNotFoundError(Upload, { key });

/** 409 for a link that would open nothing. */
export const ownerIsGone = (): ApiError =>
  conflict([
    {
      field: 'user_id',
      rule: 'owner',
      message: 'the owner is suspended or deleted, so links to this upload open nothing',
    },
  ]);
