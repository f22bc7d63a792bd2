import { Body, Controller, Delete, Get, Header, HttpStatus, Patch, Post, Put, Query } from '@nestjs/common';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  ApiExampleBody,
  ApiResource,
  IdParam,
  IfMatch,
  type Page,
  type Precondition,
  Raises,
  Role,
  Roles,
  TakesNoKey,
} from '../../platform';
import {
  CreateWebhookDto,
  ListWebhooksQuery,
  NewWebhookDto,
  PatchWebhookDto,
  toWebhookDto,
  WebhookDto,
} from './webhook.dto';
import { tooManyWebhooks, WebhooksService } from './webhooks.service';

@ApiResource('Webhooks', 'Changes, sent to where you want them as they happen. They are for administrators.')
@Controller('webhooks')
@Roles(Role.ADMIN)
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  /** Lists webhooks. */
  @Get()
  @AnswersPage(WebhookDto)
  async list(@Query() query: ListWebhooksQuery): Promise<Page<object>> {
    return (await this.webhooks.list(query)).map(toWebhookDto);
  }

  /** Reads one webhook. */
  @Get(':id')
  @Answers(WebhookDto)
  async get(@IdParam() id: number): Promise<WebhookDto> {
    return toWebhookDto(await this.webhooks.get(id));
  }

  /**
   * Creates a webhook.
   * @remarks Changes from now on are sent, as an administrator sees them. The answer has the secret by which they are
   * signed, and no other answer ever has it. To get changes of the time before, read the collections after this.
   */
  @Post()
  @Header('Cache-Control', 'no-store')
  @Answers(NewWebhookDto, HttpStatus.CREATED)
  @TakesNoKey('the answer holds a secret, which is not stored')
  @ApiExampleBody({ url: 'https://example.com/hooks/shop', types: ['products', 'orders'] })
  @Raises(tooManyWebhooks(100))
  async create(@Body() input: CreateWebhookDto): Promise<NewWebhookDto> {
    const { webhook, secret } = await this.webhooks.create(input);
    return { ...toWebhookDto(webhook), secret };
  }

  /** Replaces a webhook. @remarks Its secret stays. Attributes that are left out take their default. */
  @Put(':id')
  @Answers(WebhookDto)
  async replace(
    @IdParam() id: number,
    @Body() input: CreateWebhookDto,
    @IfMatch() expected?: Precondition,
  ): Promise<WebhookDto> {
    return toWebhookDto(await this.webhooks.update(id, input, expected));
  }

  /** Changes some attributes of a webhook. @remarks `{ "status": "PAUSED" }` pauses it, `{ "status": "ACTIVE" }` resumes. */
  @Patch(':id')
  @Answers(WebhookDto)
  @ApiExampleBody({ status: 'PAUSED' })
  async update(
    @IdParam() id: number,
    @Body() changes: PatchWebhookDto,
    @IfMatch() expected?: Precondition,
  ): Promise<WebhookDto> {
    return toWebhookDto(await this.webhooks.update(id, changes, expected));
  }

  /** Deletes a webhook, with its deliveries. */
  @Delete(':id')
  @AnswersNothing()
  remove(@IdParam() id: number, @IfMatch() expected?: Precondition): Promise<void> {
    return this.webhooks.remove(id, expected);
  }
}
