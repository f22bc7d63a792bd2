import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { declareSettings } from '../../platform';
import { Courier } from './courier';
import { DeliveriesController } from './deliveries.controller';
import { DeliveriesService } from './deliveries.service';
import { Deliverer, DeliveryTimes } from './deliverer';
import { Delivery } from './delivery.entity';
import { Dispatcher } from './dispatcher';
import { SecretSeal } from './secret-seal';
import { NameServer } from './sending/name-server';
import { Targets } from './targets';
import { Webhook } from './webhook.entity';
import './webhook-message.dto';
import { WebhookSettings } from './webhook-settings';
import { WebhookUpkeep } from './webhook-upkeep';
import { WebhookSecretsController } from './webhook-secrets.controller';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

@Module({
  imports: [TypeOrmModule.forFeature([Webhook, Delivery])],
  controllers: [WebhooksController, WebhookSecretsController, DeliveriesController],
  providers: [
    declareSettings(WebhookSettings),
    ...[WebhooksService, DeliveriesService, Targets, SecretSeal, NameServer],
    ...[Deliverer, DeliveryTimes, Dispatcher, Courier, WebhookUpkeep],
  ],
})
export class WebhooksModule {}
