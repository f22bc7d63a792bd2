import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { hours, inBackground, minutes, RepeatedJob } from '../../platform';
import { SecretSeal } from './secret-seal';
import { WebhookSettings } from './webhook-settings';

/** The interval between two runs in milliseconds. */
const INTERVAL = hours(1);
/** The delay after the start: random, so that instances don't run at once. */
const firstDelay = () => minutes(1) + Math.random() * minutes(1);
/** The time limit of each statement, in milliseconds. */
const STATEMENT = minutes(5);
/** Deliveries that one statement deletes. */
const BATCH = 5_000;

const DELETE = `
  DELETE FROM webhook_deliveries WHERE id IN (
    SELECT id FROM webhook_deliveries WHERE ended_at < now() - $1 * interval '1 second' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;
const SECRETS = 'SELECT id, secret, previous_secret FROM webhooks ORDER BY id';
const RESEAL = 'UPDATE webhooks SET secret = $3 WHERE id = $1 AND secret = $2';
const RESEAL_PREVIOUS = 'UPDATE webhooks SET previous_secret = $3 WHERE id = $1 AND previous_secret = $2';
const FORGET =
  'UPDATE webhooks SET previous_secret = NULL, previous_secret_until = NULL WHERE previous_secret_until < now()';

/** Removes old deliveries and old secrets, and seals secrets by the current key. Any number of instances may do so at once. */
@Injectable()
export class WebhookUpkeep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(WebhookUpkeep.name);
  private readonly job = new RepeatedJob(() => this.run());

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: WebhookSettings,
    private readonly seal: SecretSeal,
  ) {}

  onApplicationBootstrap(): void {
    const failure = 'Old deliveries of webhooks were not removed';
    this.job.begin({ first: firstDelay(), interval: INTERVAL, logger: this.logger, failure });
  }

  /** Runs before the connections are closed. The run ends after its current batch. */
  beforeApplicationShutdown(): Promise<void> {
    return this.job.end();
  }

  /** Returns the number of removed deliveries. */
  run(): Promise<number> {
    return inBackground(async () => {
      await this.database.query(FORGET);
      await this.reseal();
      return this.removeOld();
    }, STATEMENT);
  }

  private async removeOld(): Promise<number> {
    let removed = 0;
    for (let found = BATCH; found === BATCH && !this.job.isEnding; removed += found) {
      [, found] = await this.database.query<[unknown, number]>(DELETE, [this.settings.WEBHOOK_DELIVERY_RETENTION]);
    }
    return removed;
  }

  private async reseal(): Promise<void> {
    const rows = await this.database.query<{ id: number; secret: Buffer; previous_secret: Buffer | null }[]>(SECRETS);
    for (const { id, secret, previous_secret } of rows) {
      await this.resealOne(RESEAL, id, secret);
      if (previous_secret) await this.resealOne(RESEAL_PREVIOUS, id, previous_secret);
    }
  }

  private async resealOne(statement: string, id: number, sealed: Buffer): Promise<void> {
    if (!this.seal.isOld(sealed)) return;
    await this.database.query(statement, [id, sealed, this.seal.seal(this.seal.open(sealed)!)]);
  }
}
