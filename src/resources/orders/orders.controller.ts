import { Body, Controller, Get, HttpStatus, Patch, Post, Query } from '@nestjs/common';
import { CurrentUser, Roles } from '../../auth/access.decorators';
import { notTheOwner } from '../../auth/auth-errors';
import { type Caller, Role } from '../../auth/caller';
import { ApiItem, ApiPage, ApiResource, Raises } from '../../conventions/docs/api.decorators';
import type { Page } from '../../conventions/lists/page';
import { IdParam } from '../../conventions/requests/id.pipe';
import { CreateOrderDto, ListOrdersQuery, OrderDto, OrderStatusDto, toOrderDto } from './order.dto';
import { OrderStatus } from './order.entity';
import { mayOnlyCancel, transitionNotAllowed } from './order-status';
import { OrdersService } from './orders.service';
import { discontinued, noRoom, outOfStock } from './stock';

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
   * @remarks Takes them out of stock: all lines or none. Names and prices are those of this moment.
   */
  @Post()
  @Roles(Role.USER)
  @ApiItem(OrderDto, HttpStatus.CREATED)
  @Raises(outOfStock(1), discontinued(1))
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
