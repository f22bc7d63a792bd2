import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A key that a caller sent with a POST, and what came of that POST. */
@Entity('idempotency_keys')
@Index('idempotency_keys_created_at_index', ['created_at'])
@Index('idempotency_keys_caller_index', ['caller', 'created_at'])
export class IdempotencyKey {
  /** SHA-256 of the key and of whose it is. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'idempotency_keys_pkey' })
  id: Buffer;

  /** Tells whether another request is the same, and, without the key, nothing of what it was. */
  @Column('bytea')
  fingerprint: Buffer;

  /** SHA-256 of who brought it; null in rows of a release that didn't count them. */
  @Column({ type: 'bytea', nullable: true })
  caller: Buffer | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  created_at: Date;

  @Column({ type: 'integer', nullable: true })
  status: number | null;

  @Column({ type: 'jsonb', nullable: true })
  headers: Record<string, string> | null;

  /** The entity tag, without its quotes. */
  @Column({ type: 'text', nullable: true })
  tag: string | null;

  @Column({ type: 'text', nullable: true })
  body: string | null;
}
