import { Body, Controller, Get, Patch, Post, Put, Query } from '@nestjs/common';
import {
  Answers,
  AnswersPage,
  ApiExampleBody,
  ApiResource,
  type Caller,
  Creates,
  CurrentUser,
  IdParam,
  IfMatch,
  notTheOwner,
  type Page,
  type Precondition,
  Raises,
  Role,
  Roles,
} from '../../platform';
import { CreateOrderDto, ListOrdersQuery, OrderDto, OrderStatusDto, toOrderDto } from './order.dto';
import { OrderStatus } from './order.entity';
import { tooManyOpenOrders } from './open-orders';
import { mayOnlyCancel, transitionNotAllowed } from './order-status';
import { OrdersService } from './orders.service';
import { notAvailable, stockFull, totalDiffers } from './stock';

/** The errors of a change of status. */
const STEP_ERRORS = [
  notTheOwner(),
  mayOnlyCancel(),
  transitionNotAllowed(OrderStatus.SHIPPED, OrderStatus.CANCELLED),
  stockFull([1]),
];

@ApiResource('Orders', 'Orders of products, at the prices of their time.')
@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  /**
   * Lists orders.
   * @remarks Users see their own orders, administrators all orders. `search` looks through the names of the products.
   */
  @Get()
  @Roles(Role.USER)
  @AnswersPage(OrderDto)
  @Raises(notTheOwner())
  async list(@Query() query: ListOrdersQuery, @CurrentUser() caller: Caller): Promise<Page<object>> {
    return (await this.orders.list(query, caller)).map(toOrderDto);
  }

  /** Reads one order. */
  @Get(':id')
  @Roles(Role.USER)
  @Answers(OrderDto)
  @Raises(notTheOwner())
  async get(@IdParam() id: number, @CurrentUser() caller: Caller): Promise<OrderDto> {
    return toOrderDto(await this.orders.get(id, caller));
  }

  /**
   * Orders products.
   * @remarks Takes the products out of stock: all lines or none. The order keeps the names and prices of this moment. With
   * `expected_total`, an order is refused when its total is another one. An order that stays PENDING is cancelled after a
   * day, and a user has at most 100 PENDING orders; the operator may set other limits.
   */
  @Post()
  @Roles(Role.USER)
  @Creates(OrderDto)
  @ApiExampleBody({ items: [{ product_id: 1, quantity: 2 }] })
  @Raises(
    notAvailable([
      { index: 0, product_id: 1, available: 1 },
      { index: 1, product_id: 2 },
    ]),
    totalDiffers(19.9),
    tooManyOpenOrders(100),
  )
  async create(@Body() input: CreateOrderDto, @CurrentUser() caller: Caller): Promise<OrderDto> {
    return toOrderDto(await this.orders.create(input, caller));
  }

  /**
   * Sets the status of an order.
   * @remarks Does what PATCH does here, for pages of other origins, which send no PATCH by default.
   */
  @Put(':id/status')
  @Roles(Role.USER)
  @Answers(OrderDto)
  @Raises(...STEP_ERRORS)
  replaceStatus(
    @IdParam() id: number,
    @Body() input: OrderStatusDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<OrderDto> {
    return this.updateStatus(id, input, caller, expected);
  }

  /**
   * Moves an order to another status.
   * @remarks PENDING leads to PAID, PAID to SHIPPED, SHIPPED to DELIVERED. PENDING and PAID also lead to CANCELLED, which
   * puts the pieces back into stock. The status that the order already has changes nothing. The owner may only cancel;
   * all other steps are for administrators.
   */
  @Patch(':id/status')
  @Roles(Role.USER)
  @Answers(OrderDto)
  @Raises(...STEP_ERRORS)
  async updateStatus(
    @IdParam() id: number,
    @Body() { status }: OrderStatusDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<OrderDto> {
    return toOrderDto(await this.orders.setStatus(id, status, caller, expected));
  }
}
