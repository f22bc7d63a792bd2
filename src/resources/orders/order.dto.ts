import {
  Id,
  IdParameter,
  includable,
  Includes,
  ListOf,
  ListQueryOf,
  Money,
  OneOf,
  onlyOwn,
  ResourceDto,
  resourceOf,
  Role,
  Text,
  Whole,
} from '../../platform';
import { includedUser } from '../users/included-user';
import { Order, OrderStatus } from './order.entity';

/** A product and the quantity to buy. */
export class CreateOrderItemDto {
  /**
   * The id of the product. A product may appear in one line only.
   * @example 1
   */
  @Id()
  product_id: number;

  /**
   * The number of pieces.
   * @example 2
   */
  @Whole({ min: 1, max: 1000 })
  quantity: number;
}

/** One line of an order, as it was bought. */
export class OrderItemDto extends CreateOrderItemDto {
  /**
   * The name of the product when it was ordered.
   * @example "Espresso cup"
   */
  @Text({ max: 120 })
  name: string;

  /**
   * The price of one piece when it was ordered.
   * @example 9.95
   */
  @Money()
  unit_price: number;
}

const lines = { min: 1, max: 100 };

/** The attributes of an order that callers may read. */
@Includes({ user: includedUser })
export class OrderDto extends ResourceDto {
  /**
   * The buyer: the id of a user.
   * @example 2
   */
  @Id()
  user_id: number;

  /**
   * The status of the order.
   * @example PENDING
   */
  @OneOf(OrderStatus)
  status: OrderStatus;

  /** The products that were bought, in the order of the request. */
  @ListOf(() => OrderItemDto, lines)
  items: OrderItemDto[];

  /**
   * The total price of the order.
   * @example 19.9
   */
  @Money()
  total_amount: number;
}

/** The body of a new order. */
export class CreateOrderDto {
  /** The products to buy. The order is placed whole or not at all. */
  @ListOf(() => CreateOrderItemDto, lines)
  items: CreateOrderItemDto[];

  /**
   * The total price that the client has seen. An order with another price is refused (409).
   * @example 19.9
   */
  @Money({ optional: true })
  expected_total?: number;
}

/** The new status of an order. */
export class OrderStatusDto {
  /**
   * PENDING leads to PAID, PAID to SHIPPED, SHIPPED to DELIVERED. PENDING and PAID also lead to CANCELLED.
   * @example CANCELLED
   */
  @OneOf(OrderStatus)
  status: OrderStatus;
}

/** What a collection of orders can be asked for. */
export class ListOrdersQuery extends ListQueryOf(OrderDto, {
  sortable: Order,
  statuses: OrderStatus,
  filterable: ['total_amount', 'created_at'],
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

export const includedOrder = includable(Order, OrderDto, {
  readers: Role.USER,
  toDto: toOrderDto,
  where: onlyOwn,
  relations: { items: 'position' },
});
