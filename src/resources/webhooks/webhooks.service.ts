import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import {
  afterCommit,
  ApiError,
  changedTypes,
  Changes,
  conflict,
  deleteRow,
  insertRow,
  lockName,
  type Page,
  paginate,
  type Precondition,
  readRow,
  seconds,
  updateRow,
  validationError,
} from '../../platform';
import { Deliverer } from './deliverer';
import { newSecret, SecretSeal, textOf } from './secret-seal';
import { Targets } from './targets';
import type {
  CreateSecretDto,
  CreateWebhookDto,
  ListWebhooksQuery,
  NewSecretDto,
  PatchWebhookDto,
} from './webhook.dto';
import { Webhook, WebhookStatus } from './webhook.entity';
import { WebhookSettings } from './webhook-settings';

/**
 * It begins where everything before is committed. That may be long ago while a writer runs on, so it remembers what was
 * committed since, as ranges of numbers: whoever reads the collections afterwards has that. What is committed later is sent,
 * whatever its number.
 */
const BEGIN = `
  INSERT INTO webhook_progress (webhook_id, position, known)
    SELECT $1, $2, coalesce(range_agg(int8range(id, id, '[]')), '{}') FROM audit_events WHERE id > $2`;

const BEGIN_AGAIN = 'UPDATE webhook_progress SET failing_since = NULL, not_before = NULL WHERE webhook_id = $1';

@Injectable()
export class WebhooksService {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly settings: WebhookSettings,
    private readonly targets: Targets,
    private readonly seal: SecretSeal,
    private readonly deliverer: Deliverer,
    private readonly changes: Changes,
  ) {}

  list(query: ListWebhooksQuery): Promise<Page<Webhook>> {
    return paginate(this.webhooks, query);
  }

  get(id: number): Promise<Webhook> {
    return readRow(this.webhooks.manager, Webhook, id);
  }

  /** Returns the secret besides, which is readable only now. */
  async create(input: CreateWebhookDto): Promise<{ webhook: Webhook; secret: string }> {
    await this.requireValid(input);
    const secret = newSecret();
    const position = await this.changes.now();
    const webhook = await this.webhooks.manager.transaction(async (manager) => {
      await this.requireRoom(manager);
      const row = { ...input, status: WebhookStatus[input.status], secret: this.seal.seal(secret) };
      const made = await insertRow(manager, Webhook, row);
      await manager.query(BEGIN, [made.id, position]);
      return made;
    });
    this.wake();
    return { webhook, secret: textOf(secret) };
  }

  async update(id: number, input: PatchWebhookDto, expected?: Precondition): Promise<Webhook> {
    await this.requireValid(input);
    const changes = { ...input, status: input.status && WebhookStatus[input.status] };
    const webhook = await this.webhooks.manager.transaction(async (manager) => {
      const changed = await updateRow(manager, Webhook, id, changes, expected);
      // Somebody has looked after it: it has days again, and what was asked of it before is over.
      await manager.query(BEGIN_AGAIN, [id]);
      return changed;
    });
    this.wake();
    return webhook;
  }

  remove(id: number, expected?: Precondition): Promise<void> {
    return deleteRow(this.webhooks.manager, Webhook, id, expected);
  }

  /** Makes a new secret. The current one signs beside it for a time; one before that ends now. */
  async rotate(id: number, { overlap = this.settings.WEBHOOK_SECRET_OVERLAP }: CreateSecretDto): Promise<NewSecretDto> {
    const secret = newSecret();
    const previous_secret_until = new Date(Date.now() + seconds(overlap));
    await this.webhooks.manager.transaction(async (manager) => {
      // Locked first: of two rotations, the second one's previous secret is that of the first.
      await manager.findOneOrFail(Webhook, { where: { id }, lock: { mode: 'pessimistic_write' } });
      await manager.query(
        `UPDATE webhooks SET previous_secret = secret, previous_secret_until = $2, secret = $3 WHERE id = $1`,
        [id, previous_secret_until, this.seal.seal(secret)],
      );
    });
    return { secret: textOf(secret), previous_secret_until };
  }

  private wake(): void {
    afterCommit(() => this.deliverer.wake());
  }

  private async requireValid({ url, types }: PatchWebhookDto): Promise<void> {
    const wrong = url === undefined ? undefined : this.targets.wrong(url);
    if (wrong !== undefined) throw wrongUrl(wrong);
    if (!types) return;
    const known = (await changedTypes(this.webhooks.manager.dataSource)).map(({ name }) => name);
    if (!types.every((type) => known.includes(type))) throw unknownTypes(known);
  }

  private async requireRoom(manager: EntityManager): Promise<void> {
    await lockName(manager, 'new webhooks');
    const max = this.settings.MAX_WEBHOOKS;
    if ((await manager.count(Webhook)) >= max) throw tooManyWebhooks(max);
  }
}

/** 400 for a URL that nothing is sent to. */
export const wrongUrl = (message: string): Error => validationError([{ field: 'url', rule: 'target', message }]);

/** 400 for types that no changes have. */
export const unknownTypes = (known: string[]): Error =>
  validationError([{ field: 'types', rule: 'enum', message: `must hold only ${known.join(', ')}` }]);

/** 409 for a webhook above the limit. */
export const tooManyWebhooks = (limit: number): ApiError =>
  conflict([{ field: 'body', rule: 'limit', message: `must wait: there are ${limit} webhooks, which is the limit` }]);
