import { Check, Column, Entity, Index, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { ResourceEntity } from '../platform';
import { User } from '../resources/users/user.entity';

export enum UploadStatus {
  UPLOADING = 'UPLOADING',
  COMPLETE = 'COMPLETE',
}

@Entity('uploads')
@Index('uploads_key_unique', ['key'], { unique: true })
@Index('uploads_user_id_sort', ['user_id', 'id'])
@Index('uploads_filename_sort', ['filename', 'id'])
@Index('uploads_media_type_sort', ['media_type', 'id'])
@Index('uploads_size_sort', ['size', 'id'])
@Index('uploads_status_sort', ['status', 'id'])
@Index('uploads_created_at_sort', ['created_at', 'id'])
@Index('uploads_updated_at_sort', ['updated_at', 'id'])
@Index('uploads_expires_at_index', ['expires_at'], { where: "status = 'UPLOADING'" })
@Index('uploads_filename_search', { synchronize: false })
@Check('uploads_size_range', 'size >= 0')
@Check('uploads_offset_range', '"offset" BETWEEN 0 AND size')
@Check('uploads_status_known', "status IN ('UPLOADING', 'COMPLETE')")
@Check('uploads_checksum_present', "status = 'UPLOADING' OR checksum IS NOT NULL")
export class Upload extends ResourceEntity {
  /** Names it in paths and in the store: random, so that nobody guesses it from a row's id. */
  @Column('uuid')
  key: string;

  @Column('bigint')
  user_id: number;

  @ManyToOne(() => User, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'uploads_user_id_fkey' })
  user?: Relation<User>;

  @Column({ type: 'varchar', length: 255, nullable: true })
  filename: string | null;

  /** What the bytes say once they are complete; before, what the client says, where that can be believed. */
  @Column({ type: 'varchar', length: 127 })
  media_type: string;

  /** `Upload-Metadata` as it came, for the protocol gives it back. */
  @Column({ type: 'varchar', length: 4096, nullable: true })
  metadata: string | null;

  @Column('bigint')
  size: number;

  /** Bytes that are safe: it moves when the store has them for good, and never back. */
  @Column({ type: 'bigint', default: 0 })
  offset: number;

  /** SHA-256 in hexadecimal digits, of a complete upload. */
  @Column({ type: 'varchar', length: 64, nullable: true })
  checksum: string | null;

  @Column({ type: 'text', default: UploadStatus.UPLOADING })
  status: UploadStatus;

  /** When an unfinished upload goes; null when it is complete. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  expires_at: Date | null;

  /** Of the SHA-256, after `offset` bytes. */
  @Column({ type: 'bytea', nullable: true, select: false })
  hash_state: Buffer | null;

  /** Set to `size` while the store finalises the upload, so that a restart can finish what a crash interrupted. */
  @Column({ type: 'bigint', nullable: true, select: false })
  next_offset: number | null;

  /** Of the SHA-256, after `next_offset` bytes. */
  @Column({ type: 'bytea', nullable: true, select: false })
  next_hash_state: Buffer | null;
}
