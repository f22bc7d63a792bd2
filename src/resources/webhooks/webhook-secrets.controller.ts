import { Body, Controller, Header, HttpStatus, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AnswersWhole, ApiResource, IdParam, Role, Roles, TakesNoKey } from '../../platform';
import { placeAbove } from './place-above';
import { CreateSecretDto, NewSecretDto } from './webhook.dto';
import { WebhooksService } from './webhooks.service';

@ApiResource('Webhooks')
@Controller('webhooks/:id/secrets')
@Roles(Role.ADMIN)
export class WebhookSecretsController {
  constructor(private readonly webhooks: WebhooksService) {}

  /**
   * Gives a webhook a new secret.
   * @remarks Deliveries have a signature by each of both secrets until `previous_secret_until`: the receiver takes the new
   * one meanwhile. A second call within that time ends the older one at once. `Location` is that of the webhook.
   */
  @Post()
  @Header('Cache-Control', 'no-store')
  @AnswersWhole(NewSecretDto, HttpStatus.CREATED)
  @TakesNoKey('the answer holds a secret, which is not stored')
  create(
    @IdParam() id: number,
    @Body() input: CreateSecretDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NewSecretDto> {
    response.location(placeAbove(response.req));
    return this.webhooks.rotate(id, input);
  }
}
