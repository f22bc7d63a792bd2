import { Controller, Header, Post } from '@nestjs/common';
import { AnswersWhole, ApiResource, IdParam, Role, Roles, TakesNoKey } from '../../platform';
import { NewSecretDto } from './webhook.dto';
import { WebhooksService } from './webhooks.service';

@ApiResource('Webhooks')
@Controller('webhooks/:id/secrets')
@Roles(Role.ADMIN)
export class WebhookSecretsController {
  constructor(private readonly webhooks: WebhooksService) {}

  /**
   * Gives a webhook a new secret.
   * @remarks Deliveries have a signature by each of both secrets until `previous_secret_until`: the receiver takes the new
   * one meanwhile. A second call within that time ends the older one at once.
   */
  @Post()
  @Header('Cache-Control', 'no-store')
  @AnswersWhole(NewSecretDto)
  @TakesNoKey('the answer holds a secret, which is not stored')
  create(@IdParam() id: number): Promise<NewSecretDto> {
    return this.webhooks.rotate(id);
  }
}
