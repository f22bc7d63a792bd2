import { Check, Column, Entity } from 'typeorm';
import { ResourceEntity, SortableBy } from '../../platform';

export enum WebhookStatus {
  ACTIVE = 'ACTIVE',
  /** By an administrator. */
  PAUSED = 'PAUSED',
  /** By the service, because nothing could be delivered for days, or the receiver has answered 410. */
  DISABLED = 'DISABLED',
}

/** Where it is in the changes is a row of `webhook_progress`, which changes without a new version. */
@Entity('webhooks')
@SortableBy('created_at', 'updated_at')
@Check('webhooks_types_length', 'cardinality(types) >= 1')
@Check('webhooks_status_known', "status IN ('ACTIVE', 'PAUSED', 'DISABLED')")
export class Webhook extends ResourceEntity {
  @Column({ type: 'varchar', length: 2048 })
  url: string;

  @Column({ type: 'text', array: true })
  types: string[];

  @Column({ type: 'varchar', length: 500, nullable: true })
  description: string | null;

  @Column({ type: 'text', default: WebhookStatus.ACTIVE })
  status: WebhookStatus;

  /** Encrypted; see {@link SecretSeal}. */
  @Column({ type: 'bytea', select: false })
  secret: Buffer;

  /** The secret before, which signs too until its time is over. */
  @Column({ type: 'bytea', nullable: true, select: false })
  previous_secret: Buffer | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true, select: false })
  previous_secret_until: Date | null;
}
