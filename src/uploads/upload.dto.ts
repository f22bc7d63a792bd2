import { ApiProperty } from '@nestjs/swagger';
import { Id, IdParameter, ListQueryOf, OneOf, ResourceDto, resourceOf, Text, Whole } from '../platform';
import { Upload, UploadStatus, UploadVisibility } from './upload.entity';

const Bytes = () => Whole({ max: Number.MAX_SAFE_INTEGER });

/** The attributes of an upload that its owner may read. */
export class UploadDto extends ResourceDto {
  /** The number of the upload. Its paths use its `key`. @example 1 */
  @Id()
  override id: number;

  /**
   * The key that identifies the upload in paths.
   * @example 3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11
   */
  @Text({ max: 36 })
  @ApiProperty({ format: 'uuid' })
  key: string;

  /**
   * The owner: the id of a user.
   * @example 2
   */
  @Id()
  user_id: number;

  /**
   * The file name that the client sent, without folders. Null when the client sent none.
   * @example "Annual report.pdf"
   */
  @Text({ max: 255, nullable: true })
  filename: string | null;

  /**
   * The media type that the bytes show. If they show none: the `filetype` that the client sent, when it is one of a few
   * types of text and data; else `application/octet-stream`.
   * @example application/pdf
   */
  @Text({ max: 127 })
  media_type: string;

  /**
   * The size of the complete upload, in bytes.
   * @example 1048576
   */
  @Bytes()
  size: number;

  /**
   * The number of bytes that are stored: the offset of the next chunk.
   * @example 1048576
   */
  @Bytes()
  offset: number;

  /**
   * SHA-256 of the bytes in hexadecimal digits; null until they are complete.
   * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
   */
  @Text({ max: 64, nullable: true })
  checksum: string | null;

  /**
   * Whether the upload is complete.
   * @example COMPLETE
   */
  @OneOf(UploadStatus)
  status: UploadStatus;

  /**
   * Who may read the content: everybody, or the owner and administrators.
   * @example PRIVATE
   */
  @OneOf(UploadVisibility)
  visibility: UploadVisibility;

  /**
   * The time at which an incomplete upload is deleted. Null for a complete upload.
   * @example 2026-02-01T12:00:00.000Z
   */
  @ApiProperty({ type: String, format: 'date-time', maxLength: 24, nullable: true })
  expires_at: Date | null;
}

/** What a collection of uploads can be asked for. */
export class ListUploadsQuery extends ListQueryOf(UploadDto, { sortable: Upload, statuses: UploadStatus }) {
  @IdParameter('Only the uploads of this user. Another user than oneself is for administrators.')
  userId?: number;
}

export const toUploadDto = (upload: Upload): UploadDto =>
  resourceOf(upload, {
    key: upload.key,
    user_id: upload.user_id,
    filename: upload.filename,
    media_type: upload.media_type,
    size: upload.size,
    offset: upload.offset,
    checksum: upload.checksum,
    status: upload.status,
    visibility: upload.visibility,
    expires_at: upload.expires_at,
  });
