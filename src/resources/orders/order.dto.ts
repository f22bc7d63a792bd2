import { ListQueryOf } from '../../conventions/lists/list-query';
import { Id, ListOf, Money, OneOf, Text, Whole } from '../../conventions/requests/attributes';
import { IdParameter } from '../../conventions/requests/query-parameters';
import { ResourceDto, resourceOf } from '../../conventions/responses/resource.dto';
import { type Order, OrderStatus } from './order.entity';

/** What to buy, and how much of it. */
export class CreateOrderItemDto {
  /**
   * The product; each may stand in one line only.
   * @example 1
   */
  @Id()
  product_id: number;

  /**
   * How many of it.
   * @example 2
   */
  @Whole({ min: 1, max: 1000 })
  quantity: number;
}

/** One line of an order, as it was when it was bought. */
export class OrderItemDto extends CreateOrderItemDto {
  /**
   * What the product was called then.
   * @example "Espresso cup"
   */
  @Text({ max: 120 })
  name: string;

  /**
   * What one of it cost then.
   * @example 9.95
   */
  @Money()
  unit_price: number;
}

const lines = { min: 1, max: 100 };

/** What a client may read of an order. */
export class OrderDto extends ResourceDto {
  /**
   * Who bought.
   * @example 2
   */
  @Id()
  user_id: number;

  /**
   * How far it is.
   * @example PENDING
   */
  @OneOf(OrderStatus)
  status: OrderStatus;

  /** What was bought, in the order of the request. */
  @ListOf(() => OrderItemDto, lines)
  items: OrderItemDto[];

  /**
   * What all of it costs.
   * @example 19.9
   */
  @Money()
  total_amount: number;
}

/** What a new order is made of. */
export class CreateOrderDto {
  /** What to buy; all lines or none. */
  @ListOf(() => CreateOrderItemDto, lines)
  items: CreateOrderItemDto[];

  /**
   * What all of it cost when the client looked. With it, an order that would cost more or less is refused (409).
   * @example 19.9
   */
  @Money({ optional: true })
  expected_total?: number;
}

/** Where to move an order to. */
export class OrderStatusDto {
  /**
   * PENDING leads to PAID, PAID to SHIPPED, SHIPPED to DELIVERED; PENDING and PAID also to CANCELLED.
   * @example CANCELLED
   */
  @OneOf(OrderStatus)
  status: OrderStatus;
}

/** What a collection of orders can be asked for. */
export class ListOrdersQuery extends ListQueryOf(OrderDto, {
  sortable: ['id', 'user_id', 'status', 'total_amount', 'created_at', 'updated_at'],
  statuses: OrderStatus,
}) {
  @IdParameter('Only the orders of this user. Another user than oneself is for administrators.')
  userId?: number;
}

export const toOrderDto = (order: Order): OrderDto =>
  resourceOf(order, {
    user_id: order.user_id,
    status: order.status,
    items: order.items?.map(({ product_id, quantity, name, unit_price }) => ({
      product_id,
      quantity,
      name,
      unit_price,
    })),
    total_amount: order.total_amount,
  });
