import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { SortableBy } from './sortable-by';

type Values = Record<string, unknown>;

/**
 * A row of the audit. Triggers and the platform insert it; nothing changes it. The migration of the platform makes the table,
 * because it has types and indexes that TypeORM can't express.
 */
@Entity('audit_events', { synchronize: false })
@Index('audit_events_resource_index', ['resource', 'resource_id', 'id'])
@Index('audit_events_user_id_index', ['user_id', 'id'])
@SortableBy()
export class AuditEvent {
  @PrimaryColumn('bigint')
  id: number;

  @Column({ type: 'timestamptz', precision: 3 })
  created_at: Date;

  @Column({ type: 'bigint', nullable: true })
  user_id: number | null;

  @Column({ type: 'text', nullable: true })
  request_id: string | null;

  @Column({ type: 'text', nullable: true })
  address: string | null;

  @Column('text')
  action: string;

  @Column({ type: 'text', nullable: true })
  resource: string | null;

  /** A number, or the random key of an upload. */
  @Column({ type: 'text', nullable: true })
  resource_id: string | null;

  @Column({ type: 'integer', nullable: true })
  version_before: number | null;

  @Column({ type: 'integer', nullable: true })
  version_after: number | null;

  @Column({ type: 'jsonb', nullable: true })
  before: Values | null;

  @Column({ type: 'jsonb', nullable: true })
  after: Values | null;

  @Column({ type: 'text', array: true })
  concealed: string[];

  @Column({ type: 'jsonb', nullable: true })
  details: Values | null;
}
