import { Check, Column, Entity, Index, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { ResourceEntity, SearchableBy, SortableBy } from '../platform';
import { User } from '../resources/users/user.entity';

export enum UploadStatus {
  UPLOADING = 'UPLOADING',
  COMPLETE = 'COMPLETE',
}

export enum UploadVisibility {
  PRIVATE = 'PRIVATE',
  PUBLIC = 'PUBLIC',
}

@Entity('uploads')
@Index('uploads_key_unique', ['key'], { unique: true })
@SortableBy('user_id', 'filename', 'media_type', 'size', 'status', 'created_at', 'updated_at')
@SearchableBy('filename')
@Index('uploads_expires_at_index', ['expires_at'], { where: "status = 'UPLOADING'" })
@Check('uploads_size_range', 'size >= 0')
@Check('uploads_offset_range', '"offset" BETWEEN 0 AND size')
@Check('uploads_status_known', "status IN ('UPLOADING', 'COMPLETE')")
@Check('uploads_visibility_known', "visibility IN ('PRIVATE', 'PUBLIC')")
@Check('uploads_checksum_present', "status = 'UPLOADING' OR checksum IS NOT NULL")
export class Upload extends ResourceEntity {
  /** Identifies the upload in paths and in the store. It is random, so that it can't be guessed. */
  @Column('uuid')
  key: string;

  @Column('bigint')
  user_id: number;

  @ManyToOne(() => User, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'uploads_user_id_fkey' })
  user?: Relation<User>;

  @Column({ type: 'varchar', length: 255, nullable: true })
  filename: string | null;

  /**
   * The media type that the bytes show once they are complete. Before that, the client's claim, if it can be trusted.
   */
  @Column({ type: 'varchar', length: 127 })
  media_type: string;

  /** `Upload-Metadata` as it was sent: the protocol returns it unchanged. */
  @Column({ type: 'varchar', length: 4096, nullable: true })
  metadata: string | null;

  @Column('bigint')
  size: number;

  /** The number of durably stored bytes. It never decreases. */
  @Column({ type: 'bigint', default: 0 })
  offset: number;

  /** SHA-256 of a complete upload in hexadecimal digits. */
  @Column({ type: 'varchar', length: 64, nullable: true })
  checksum: string | null;

  @Column({ type: 'text', default: UploadStatus.UPLOADING })
  status: UploadStatus;

  /** Who may read the content. Triggers keep the pictures among the public uploads in the table `pictures`. */
  @Column({ type: 'text', default: UploadVisibility.PRIVATE })
  visibility: UploadVisibility;

  /** When an unfinished upload is deleted; null when it is complete. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  expires_at: Date | null;

  /** The state of the SHA-256 computation after `offset` bytes. */
  @Column({ type: 'bytea', nullable: true, select: false })
  hash_state: Buffer | null;

  /** Set to `size` while the store finalises the upload, so that a restart can finish what a crash interrupted. */
  @Column({ type: 'bigint', nullable: true, select: false })
  next_offset: number | null;

  /** The state of the SHA-256 computation after `next_offset` bytes. */
  @Column({ type: 'bytea', nullable: true, select: false })
  next_hash_state: Buffer | null;
}
