import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Order, OrderItem } from './order.entity';
import { declareSettings } from '../../platform';
import { OrderExpiry } from './order-expiry';
import { OrderSettings } from './order-settings';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';

@Module({
  imports: [TypeOrmModule.forFeature([Order, OrderItem])],
  controllers: [OrdersController],
  providers: [declareSettings(OrderSettings), OrdersService, OrderExpiry],
})
export class OrdersModule {}
