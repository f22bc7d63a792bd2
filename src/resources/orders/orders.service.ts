import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import {
  type Caller,
  insertRow,
  insertRows,
  isAdmin,
  type Page,
  paginate,
  type Precondition,
  requireExpected,
  requireExpectedSoFar,
  requireSelfOrAdmin,
  seconds,
  updateRow,
} from '../../platform';
import type { CreateOrderDto, ListOrdersQuery } from './order.dto';
import { Order, OrderItem, OrderStatus } from './order.entity';
import { countOpenOrders, tooManyOpenOrders } from './open-orders';
import { OrderSettings } from './order-settings';
import { mayOnlyCancel, requireTransition } from './order-status';
import { fillCart, requireTotal, returnStock, takeStock } from './stock';

@Injectable()
export class OrdersService {
  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    private readonly settings: OrderSettings,
  ) {}

  list({ userId, ...query }: ListOrdersQuery, caller: Caller): Promise<Page<Order>> {
    if (userId !== undefined) requireSelfOrAdmin(caller, userId);
    return paginate(this.orders, query, {
      searchIn: 'EXISTS (SELECT FROM order_items WHERE order_id = resource.id AND name ILIKE :pattern)',
      filter: { user_id: isAdmin(caller) ? userId : caller.id },
      include: { items: 'position' },
    });
  }

  async get(id: number, caller: Caller): Promise<Order> {
    const order = await find(this.orders.manager, id);
    requireSelfOrAdmin(caller, order.user_id);
    return order;
  }

  /** Takes the stock and inserts the order, completely or not at all. */
  create({ items: wanted, expected_total }: CreateOrderDto, { id: user_id }: Caller): Promise<Order> {
    return this.orders.manager.transaction(async (manager) => {
      const open = await countOpenOrders(manager, user_id, this.settings.MAX_OPEN_ORDERS);
      const cart = await fillCart(manager, wanted);
      if (open === this.settings.MAX_OPEN_ORDERS) throw tooManyOpenOrders(open);
      requireTotal(cart, expected_total);
      await takeStock(manager, cart);
      const { lines, total: total_amount } = cart;
      const status = OrderStatus.PENDING;
      const order = await insertRow(manager, Order, { user_id, status, total_amount, expires_at: this.expiry() });
      const items = lines.map((line, position) => ({ ...line, position, order_id: order.id }));
      return Object.assign(order, { items: await insertRows(manager, OrderItem, items) });
    });
  }

  /** Changes the status of an order. Setting the current status changes nothing. */
  async setStatus(id: number, status: OrderStatus, caller: Caller, expected?: Precondition): Promise<Order> {
    // Refused before the lock, because the expiry passes over locked orders.
    const before = await this.get(id, caller);
    if (status !== OrderStatus.CANCELLED && !isAdmin(caller)) throw mayOnlyCancel();
    requireExpectedSoFar(before, expected);
    return this.orders.manager.transaction(async (manager) => {
      // Locked, so that concurrent changes follow each other.
      await manager.findOneOrFail(Order, { where: { id }, lock: { mode: 'pessimistic_write' } });
      const order = await find(manager, id);
      // Compared before anything is written: the products are written first, and `If-Match` isn't about them.
      requireExpected(order, expected);
      if (status === order.status) return order;
      requireTransition(order.status, status);
      if (status === OrderStatus.CANCELLED) await returnStock(manager, order.items);
      return Object.assign(await updateRow(manager, Order, id, { status }), { items: order.items });
    });
  }

  private expiry(): Date | null {
    const { ORDER_EXPIRY } = this.settings;
    return ORDER_EXPIRY === 0 ? null : new Date(Date.now() + seconds(ORDER_EXPIRY));
  }
}

function find(manager: EntityManager, id: number): Promise<Order> {
  return manager.findOneOrFail(Order, {
    where: { id },
    relations: { items: true },
    order: { items: { position: 'ASC' } },
  });
}
