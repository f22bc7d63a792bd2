import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';

/** One sign-in of one user. The session lives until its row is deleted. Access tokens name it in `sid`. */
@Entity('sessions')
@Index('sessions_user_id_index', ['user_id'])
@Index('sessions_family_hash_unique', ['family_hash'], { unique: true })
export class Session {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'sessions_pkey' })
  id: string;

  @Column('bigint')
  user_id: number;

  /** Referred to by name, as this folder must not import resources. */
  @ManyToOne('User', { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'sessions_user_id_fkey' })
  user?: unknown;

  /** When the password was entered. */
  @Column({ type: 'timestamptz', precision: 3 })
  authenticated_at: Date;

  /** When the latest refresh token of the session expires. */
  @Column({ type: 'timestamptz', precision: 3 })
  expires_at: Date;

  /**
   * SHA-256 of the common part of all refresh tokens of the session. It identifies a spent token whose own row is
   * deleted.
   */
  @Column({ type: 'bytea', nullable: true })
  family_hash: Buffer | null;
}

/** A refresh token, stored as its SHA-256, so that a reader of the table can't use it. */
@Entity('refresh_tokens')
@Index('refresh_tokens_session_id_index', ['session_id'])
export class RefreshToken {
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'refresh_tokens_pkey' })
  token_hash: Buffer;

  @Column('uuid')
  session_id: string;

  @ManyToOne(() => Session, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'session_id', foreignKeyConstraintName: 'refresh_tokens_session_id_fkey' })
  session: Relation<Session>;

  @Column({ type: 'timestamptz', precision: 3 })
  expires_at: Date;

  /** When it was exchanged for the next one; null while it is good. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  spent_at: Date | null;
}
