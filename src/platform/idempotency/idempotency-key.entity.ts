import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** An idempotency key that a caller sent with a POST, and the answer to that POST. */
@Entity('idempotency_keys')
@Index('idempotency_keys_created_at_index', ['created_at'])
@Index('idempotency_keys_caller_index', ['caller', 'created_at'])
export class IdempotencyKey {
  /** SHA-256 of the key and its scope. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'idempotency_keys_pkey' })
  id: Buffer;

  /** A keyed hash of the request: equal for equal requests. Without the key it reveals nothing about the request. */
  @Column('bytea')
  fingerprint: Buffer;

  /** SHA-256 of the caller. Null in rows of a release without the limit per caller. */
  @Column({ type: 'bytea', nullable: true })
  caller: Buffer | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  created_at: Date;

  @Column({ type: 'integer', nullable: true })
  status: number | null;

  @Column({ type: 'jsonb', nullable: true })
  headers: Record<string, string> | null;

  /** The entity tag without its quotes. */
  @Column({ type: 'text', nullable: true })
  tag: string | null;

  @Column({ type: 'text', nullable: true })
  body: string | null;
}
