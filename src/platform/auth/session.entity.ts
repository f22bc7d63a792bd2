import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';

/** One sign-in of one user. It lives until its row is deleted; access tokens name it in `sid`. */
@Entity('sessions')
@Index('sessions_user_id_index', ['user_id'])
@Index('sessions_family_hash_unique', ['family_hash'], { unique: true })
export class Session {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'sessions_pkey' })
  id: string;

  @Column('bigint')
  user_id: number;

  /** By name: this folder knows nothing of resources. */
  @ManyToOne('User', { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'sessions_user_id_fkey' })
  user?: unknown;

  /** When the password was given. */
  @Column({ type: 'timestamptz', precision: 3 })
  authenticated_at: Date;

  /** When its last refresh token expires. */
  @Column({ type: 'timestamptz', precision: 3 })
  expires_at: Date;

  /** SHA-256 of what all its refresh tokens begin with: a spent one is known by it when its own row is gone. */
  @Column({ type: 'bytea', nullable: true })
  family_hash: Buffer | null;
}

/** A refresh token, as its SHA-256: who reads the table can't use it. */
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

  /** When it was exchanged for the next one; null as long as it is good. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  spent_at: Date | null;
}
