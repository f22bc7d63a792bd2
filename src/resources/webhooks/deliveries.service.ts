import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { afterCommit, type ApiError, conflict, type Page, paginate, readRow } from '../../platform';
import { Deliverer } from './deliverer';
import type { ListDeliveriesQuery } from './delivery.dto';
import { DeliveredChange, Delivery } from './delivery.entity';
import { Webhook, WebhookStatus } from './webhook.entity';

/** Tests of a webhook that wait at once. */
const MAX_TESTS = 10;

/** Held until the end of the transaction: two concurrent tests would both see the last free place. It lets deliveries be made. */
const LOCK = { lock: { mode: 'for_no_key_update' } } as const;

const COUNT_TESTS = `
  SELECT count(*)::integer AS waiting FROM webhook_deliveries
   WHERE webhook_id = $1 AND status = 'PENDING' AND event_id IS NULL`;

const ADD_TEST = `
  INSERT INTO webhook_deliveries (webhook_id, type, resource_id, change, changed_at)
    VALUES ($1, 'webhooks', $1, '${DeliveredChange.TEST}', now()) RETURNING id`;

const IS_ENDED_TEST = `
  SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND id = $2 AND event_id IS NULL AND status <> 'PENDING'`;

/** A new time begins, unless it is still to be sent. One that is under way isn't sent a second time beside itself. */
const REPEAT = `
  UPDATE webhook_deliveries SET status = 'PENDING', due_at = now() + $3 * interval '1 second', ended_at = NULL,
         failures = 0, begun_at = CASE WHEN status = 'PENDING' THEN begun_at END
   WHERE webhook_id = $1 AND id = $2`;

@Injectable()
export class DeliveriesService {
  constructor(
    @InjectRepository(Delivery) private readonly deliveries: Repository<Delivery>,
    private readonly deliverer: Deliverer,
  ) {}

  async list(webhookId: number, query: ListDeliveriesQuery): Promise<Page<Delivery>> {
    const page = await paginate(this.deliveries, query, { filter: { webhook_id: webhookId } });
    // If there is no such webhook, the answer is 404.
    if (page.data.length === 0) await this.webhook(webhookId);
    return page;
  }

  async get(webhookId: number, id: number): Promise<Delivery> {
    await this.webhook(webhookId);
    return this.deliveries.findOneByOrFail({ webhook_id: webhookId, id });
  }

  /** @throws {ApiError} CONFLICT */
  async test(webhookId: number): Promise<Delivery> {
    const id = await this.deliveries.manager.transaction(async (manager) => {
      const { status } = await manager.findOneOrFail(Webhook, { where: { id: webhookId }, ...LOCK });
      if (status !== WebhookStatus.ACTIVE) throw notActive();
      await requireRoomForTest(manager, webhookId);
      const [added] = await manager.query<[{ id: number }]>(ADD_TEST, [webhookId]);
      return added.id;
    });
    afterCommit(() => this.deliverer.wake());
    return this.get(webhookId, id);
  }

  /** @throws {ApiError} CONFLICT for a test above the limit */
  async repeat(webhookId: number, id: number, delay: number): Promise<Delivery> {
    await this.deliveries.manager.transaction(async (manager) => {
      await manager.findOneOrFail(Webhook, { where: { id: webhookId }, ...LOCK });
      const isEndedTest = (await manager.query<unknown[]>(IS_ENDED_TEST, [webhookId, id])).length > 0;
      if (isEndedTest) await requireRoomForTest(manager, webhookId);
      await manager.query(REPEAT, [webhookId, id, delay]);
    });
    afterCommit(() => this.deliverer.wake());
    return this.get(webhookId, id);
  }

  private webhook(id: number): Promise<Webhook> {
    return readRow(this.deliveries.manager, Webhook, id);
  }
}

/** Called while the webhook is locked. @throws {ApiError} CONFLICT */
async function requireRoomForTest(manager: EntityManager, webhookId: number): Promise<void> {
  const [{ waiting }] = await manager.query<[{ waiting: number }]>(COUNT_TESTS, [webhookId]);
  if (waiting >= MAX_TESTS) throw tooManyTests();
}

/** 409 for a test of a webhook that gets nothing. */
export const notActive = (): ApiError =>
  conflict([{ field: 'status', rule: 'transition', message: 'must be ACTIVE: nothing is sent otherwise' }]);

/** 409 for a test above the limit. */
export const tooManyTests = (): ApiError =>
  conflict([
    { field: 'body', rule: 'limit', message: `must wait: ${MAX_TESTS} tests are to be sent, which is the limit` },
  ]);
