import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { minutes, RepeatedJob, seconds, updateRow } from '../../platform';
import { Order, OrderItem, OrderStatus } from './order.entity';
import { returnStock } from './stock';

/** The interval between two sweeps in milliseconds. */
const INTERVAL = minutes(1);
/** The delay after the start: short, and random so that instances don't sweep at once. */
const firstDelay = () => 1_000 + Math.random() * 2_000;
const BATCH = 500;

/** How long an order waits for its products. The next sweep tries it again, and no order waits behind another's products. */
const PATIENCE = seconds(1);

const OVERDUE = "status = 'PENDING' AND expires_at < now()";

/** Cancels orders that weren't paid in time, so that their stock is available again. */
@Injectable()
export class OrderExpiry implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OrderExpiry.name);
  private readonly job = new RepeatedJob(() => this.sweep());

  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  onApplicationBootstrap(): void {
    const failure = 'Overdue orders were not cancelled';
    this.job.begin({ first: firstDelay(), interval: INTERVAL, logger: this.logger, failure });
  }

  /** Runs before the connections are closed. The sweep ends after its current order. */
  beforeApplicationShutdown(): Promise<void> {
    return this.job.end();
  }

  /**
   * Any number of instances may sweep at once: each order is cancelled by one of them. Returns the number of cancelled
   * orders.
   */
  async sweep(): Promise<number> {
    let cancelled = 0;
    for (let found = BATCH, last = 0; found === BATCH;) {
      const text = `SELECT id FROM orders WHERE ${OVERDUE} AND id > $1 ORDER BY id LIMIT ${BATCH}`;
      const rows = await this.orders.query<{ id: number }[]>(text, [last]);
      found = rows.length;
      last = rows.at(-1)?.id ?? last;
      for (const { id } of rows) {
        if (this.job.isEnding) return cancelled;
        if (await this.cancel(id)) cancelled++;
      }
    }
    return cancelled;
  }

  /** An order that can't be cancelled, because its product has no room in stock, doesn't stop the others. */
  private async cancel(id: number): Promise<boolean> {
    try {
      return await this.orders.manager.transaction((manager) => cancelOverdue(manager, id));
    } catch (error) {
      this.logger.warn({ err: error, order_id: id }, 'An overdue order was not cancelled');
      return false;
    }
  }
}

/**
 * Cancels an order if it is still overdue when its row is locked. Locks the order first, and then the products in the
 * order of their ids, like all other code.
 */
async function cancelOverdue(manager: EntityManager, id: number): Promise<boolean> {
  await manager.query(`SET LOCAL lock_timeout = ${PATIENCE}`);
  const text = `SELECT id FROM orders WHERE id = $1 AND ${OVERDUE} FOR UPDATE SKIP LOCKED`;
  if ((await manager.query<unknown[]>(text, [id])).length === 0) return false;
  await returnStock(manager, await manager.findBy(OrderItem, { order_id: id }));
  await updateRow(manager, Order, id, { status: OrderStatus.CANCELLED });
  return true;
}
