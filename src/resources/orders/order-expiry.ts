import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { updateRow } from '../../platform';
import { Order, OrderItem, OrderStatus } from './order.entity';
import { returnStock } from './stock';

/** From one time to the next, in milliseconds. */
const INTERVAL = 60_000;
/** From the start to the first time: soon, and not for all instances at once. */
const firstDelay = () => 1_000 + Math.random() * 2_000;
const BATCH = 500;

const OVERDUE = "status = 'PENDING' AND expires_at < now()";

/** Cancels orders that nobody has paid in time, so that their stock is there for others. */
@Injectable()
export class OrderExpiry implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OrderExpiry.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> | undefined;
  private ending = false;

  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  onApplicationBootstrap(): void {
    const onFailure = (error: unknown) => this.logger.warn({ err: error }, 'Overdue orders were not cancelled');
    const run = () => {
      this.running = this.sweep()
        .catch(onFailure)
        .finally(() => {
          if (!this.ending) this.timer = setTimeout(run, INTERVAL).unref();
        });
    };
    this.timer = setTimeout(run, firstDelay()).unref();
  }

  /** While the connections that it needs are there: it ends after the order that it is at. */
  async beforeApplicationShutdown(): Promise<void> {
    this.ending = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Any number of instances may do it at once: each order is cancelled by one of them. Returns how many were. */
  async sweep(): Promise<number> {
    let cancelled = 0;
    for (let found = BATCH, last = 0; found === BATCH;) {
      const text = `SELECT id FROM orders WHERE ${OVERDUE} AND id > $1 ORDER BY id LIMIT ${BATCH}`;
      const rows = await this.orders.query<{ id: number }[]>(text, [last]);
      found = rows.length;
      last = rows.at(-1)?.id ?? last;
      for (const { id } of rows) {
        if (this.ending) return cancelled;
        if (await this.cancel(id)) cancelled++;
      }
    }
    return cancelled;
  }

  /** One that can't be cancelled, as its product has no room in stock, keeps no other from it. */
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
 * Under the lock of its row, as whoever moves it takes it: it may have been paid or cancelled since it was found. First the
 * order, then the products in the order of their ids, as everybody does.
 */
async function cancelOverdue(manager: EntityManager, id: number): Promise<boolean> {
  const text = `SELECT id FROM orders WHERE id = $1 AND ${OVERDUE} FOR UPDATE SKIP LOCKED`;
  if ((await manager.query<unknown[]>(text, [id])).length === 0) return false;
  await returnStock(manager, await manager.findBy(OrderItem, { order_id: id }));
  await updateRow(manager, Order, id, { status: OrderStatus.CANCELLED });
  return true;
}
