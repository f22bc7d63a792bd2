import { Body, Controller, Get, HttpStatus, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  Answers,
  AnswersPage,
  ApiResource,
  Creates,
  IdParam,
  type Page,
  Raises,
  Role,
  Roles,
  TakesNoKey,
} from '../../platform';
import { DeliveriesService, notActive, tooManyTests } from './deliveries.service';
import { CreateAttemptDto, CreateTestDto, DeliveryDto, ListDeliveriesQuery, toDeliveryDto } from './delivery.dto';
import { placeAbove } from './place-above';

@ApiResource('Webhooks')
@Controller('webhooks/:id/deliveries')
@Roles(Role.ADMIN)
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  /** Lists the deliveries of a webhook. @remarks `order=desc` begins with the latest. Those that have ended are kept for days. */
  @Get()
  @AnswersPage(DeliveryDto)
  async list(@IdParam() webhookId: number, @Query() query: ListDeliveriesQuery): Promise<Page<object>> {
    return (await this.deliveries.list(webhookId, query)).map(toDeliveryDto);
  }

  /** Reads one delivery. */
  @Get(':deliveryId')
  @Answers(DeliveryDto)
  async get(@IdParam() webhookId: number, @IdParam('deliveryId') id: number): Promise<DeliveryDto> {
    return toDeliveryDto(await this.deliveries.get(webhookId, id));
  }

  /**
   * Sends a test to a webhook.
   * @remarks Its `type` is `webhooks.test`. The delivery tells how the receiver has answered.
   */
  @Post()
  @Creates(DeliveryDto)
  @Raises(notActive(), tooManyTests())
  async create(@IdParam() webhookId: number, @Body() _input: CreateTestDto): Promise<DeliveryDto> {
    return toDeliveryDto(await this.deliveries.test(webhookId));
  }

  /**
   * Sends a delivery again.
   * @remarks Also one that was delivered or given up. It gets all the time of a new one. Later changes of the same resource that
   * aren't delivered yet wait for it. Those that were delivered have overtaken it: compare `version`.
   * `Location` is that of the delivery.
   */
  @Post(':deliveryId/attempts')
  @Answers(DeliveryDto, HttpStatus.CREATED)
  @TakesNoKey('a delivery that is to be sent is sent once')
  @Raises(tooManyTests())
  async repeat(
    @IdParam() webhookId: number,
    @IdParam('deliveryId') id: number,
    @Body() { delay }: CreateAttemptDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DeliveryDto> {
    response.location(placeAbove(response.req));
    return toDeliveryDto(await this.deliveries.repeat(webhookId, id, delay));
  }
}
