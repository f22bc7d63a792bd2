import { Body, Controller, Get, Patch, Post, Query } from '@nestjs/common';
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
import { discontinued, noRoom, outOfStock, totalDiffers } from './stock';

@ApiResource('Orders', 'Orders of products, at the prices of their time.')
@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  /**
   * Lists orders.
   * @remarks Users see their own, administrators all. `search` looks through the names of what was bought.
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
   * @remarks Takes them out of stock: all lines or none. Names and prices are those of this moment; `expected_total` keeps
   * the caller from paying what it hasn't seen. An order that stays PENDING is cancelled after a time (a day, unless whoever
   * runs the service has set another), and a user may have so many PENDING orders at once (100).
   */
  @Post()
  @Roles(Role.USER)
  @Creates(OrderDto)
  @ApiExampleBody({ items: [{ product_id: 1, quantity: 2 }] })
  @Raises(outOfStock(1), discontinued(1), totalDiffers(19.9), tooManyOpenOrders(100))
  async create(@Body() input: CreateOrderDto, @CurrentUser() caller: Caller): Promise<OrderDto> {
    return toOrderDto(await this.orders.create(input, caller));
  }

  /**
   * Moves an order to another status.
   * @remarks PENDING leads to PAID, PAID to SHIPPED, SHIPPED to DELIVERED; PENDING and PAID also to CANCELLED, which puts
   * the stock back. The status that it has already changes nothing. Owners may cancel; the rest is for administrators.
   */
  @Patch(':id/status')
  @Roles(Role.USER)
  @Answers(OrderDto)
  @Raises(notTheOwner(), mayOnlyCancel(), transitionNotAllowed(OrderStatus.SHIPPED, OrderStatus.CANCELLED), noRoom(1))
  async updateStatus(
    @IdParam() id: number,
    @Body() { status }: OrderStatusDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<OrderDto> {
    return toOrderDto(await this.orders.setStatus(id, status, caller, expected));
  }
}
