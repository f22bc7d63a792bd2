import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { SortableBy } from '../../platform';
import type { Failure } from './sending/send';

export enum DeliveryStatus {
  /** To be sent, for the first time or again. */
  PENDING = 'PENDING',
  DELIVERED = 'DELIVERED',
  /** Given up. */
  FAILED = 'FAILED',
}

/** What happened to a resource; or nothing, to try a webhook. */
export enum DeliveredChange {
  CREATED = 'CREATED',
  UPDATED = 'UPDATED',
  DELETED = 'DELETED',
  TEST = 'TEST',
}

/** A change on its way to a webhook. It is no ResourceEntity, as each attempt would leave an audit event. The migration makes the table, because of indexes that TypeORM can't express. */
@Entity('webhook_deliveries', { synchronize: false })
@Index('webhook_deliveries_webhook_id_index', ['webhook_id', 'id'])
@SortableBy('updated_at')
export class Delivery {
  @PrimaryColumn('bigint')
  id: number;

  @Column({ type: 'timestamptz', precision: 3 })
  created_at: Date;

  @Column({ type: 'timestamptz', precision: 3 })
  updated_at: Date;

  @Column('integer')
  version: number;

  @Column('bigint')
  webhook_id: number;

  @Column('text')
  type: string;

  @Column('bigint')
  resource_id: number;

  @Column('text')
  change: DeliveredChange;

  @Column({ type: 'integer', nullable: true })
  resource_version: number | null;

  @Column({ type: 'timestamptz', precision: 3 })
  changed_at: Date;

  @Column('text')
  status: DeliveryStatus;

  @Column('integer')
  attempts: number;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  attempted_at: Date | null;

  @Column({ type: 'integer', nullable: true })
  response_status: number | null;

  @Column({ type: 'text', nullable: true })
  failure: Failure | null;

  @Column({ type: 'timestamptz', precision: 3 })
  due_at: Date;
}
