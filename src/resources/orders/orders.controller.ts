import { Body, Controller, Get, HttpStatus, Patch, Post, Query } from '@nestjs/common';
import { CurrentUser, Roles } from '../../auth/access.decorators';
import { notTheOwner } from '../../auth/auth-errors';
import { type Caller, Role } from '../../auth/caller';
import { ApiItem, ApiPage, ApiResource, ExampleBody, Raises } from '../../conventions/docs/api.decorators';
import type { Page } from '../../conventions/lists/page';
import { IdParam } from '../../conventions/requests/id.pipe';
import { CreateOrderDto, ListOrdersQuery, OrderDto, OrderStatusDto, toOrderDto } from './order.dto';
import { OrderStatus } from './order.entity';
import { tooManyOpenOrders } from './open-orders';
import { mayOnlyCancel, transitionNotAllowed } from './order-status';
import { OrdersService } from './orders.service';
import { discontinued, noRoom, outOfStock, totalDiffers } from './stock';

@ApiResource('Orders', 'What was bought, at the price of that moment.')
@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  /**
   * Lists orders.
   * @remarks Users see their own, administrators all. `search` looks through the names of what was bought.
   */
  @Get()
  @Roles(Role.USER)
  @ApiPage(OrderDto)
  @Raises(notTheOwner())
  async list(@Query() query: ListOrdersQuery, @CurrentUser() caller: Caller): Promise<Page<object>> {
    return (await this.orders.list(query, caller)).map(toOrderDto);
  }

  /** Reads one order. */
  @Get(':id')
  @Roles(Role.USER)
  @ApiItem(OrderDto)
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
  @ApiItem(OrderDto, HttpStatus.CREATED)
  @ExampleBody({ items: [{ product_id: 1, quantity: 2 }] })
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
  @ApiItem(OrderDto)
  @Raises(notTheOwner(), mayOnlyCancel(), transitionNotAllowed(OrderStatus.SHIPPED, OrderStatus.CANCELLED), noRoom(1))
  async updateStatus(
    @IdParam() id: number,
    @Body() { status }: OrderStatusDto,
    @CurrentUser() caller: Caller,
  ): Promise<OrderDto> {
    return toOrderDto(await this.orders.setStatus(id, status, caller));
  }
}
