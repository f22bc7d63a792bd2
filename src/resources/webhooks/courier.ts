import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { currentResources, hours, seconds } from '../../platform';
import { counter } from '../../platform/features';
import { claim, type Claimed } from './claims';
import { record } from './delivery-rows';
import { bodyOf, messageId } from './payload';
import { SecretSeal, signedHeaders } from './secret-seal';
import { NameServer } from './sending/name-server';
import { Failure, type Message, type Outcome, send } from './sending/send';
import { Targets } from './targets';
import { WebhookSettings } from './webhook-settings';

/** Milliseconds for a whole attempt. */
const PATIENCE = seconds(10);
/** A receiver is quick whose last attempt took no longer, in milliseconds, and for how long that is believed. */
const QUICK = seconds(2);
const QUICK_FOR = hours(1);
/** How long a delivery belongs to the process that has taken it, in milliseconds. If the process ends, another takes it then. */
export const LEASE = seconds(30);

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'Resource-API' };

const attempted = counter(
  'api_webhook_attempts_total',
  'Attempts to deliver to webhooks, by their outcome.',
  ['outcome'],
  [{ outcome: 'success' }, { outcome: 'failure' }],
);

/** Takes deliveries that are due, a few of each webhook, and sends them. No transaction is open during a call. */
@Injectable()
export class Courier {
  private readonly logger = new Logger('Webhooks');
  /** How many deliveries of a webhook are under way, by its id. */
  private readonly busy = new Map<number, number>();
  /**
   * When the last attempt of this process was quick, by the id of its webhook. All others have half of the places together: a dead
   * receiver keeps each of them for the time of an attempt.
   */
  private readonly quick = new Map<number, number>();
  private readonly underWay = new Set<Promise<void>>();
  private filling: Promise<void> | undefined;
  /** Whether places became free while they were being filled. */
  private again = false;
  private isEnding = false;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: WebhookSettings,
    private readonly targets: Targets,
    private readonly names: NameServer,
    private readonly seal: SecretSeal,
  ) {}

  /** Takes what is due, as far as there are places. Calls at the same time are one. */
  fill(): Promise<void> {
    this.again = true;
    return (this.filling ??= this.fillWhileAsked().finally(() => (this.filling = undefined)));
  }

  end(): void {
    this.isEnding = true;
  }

  /** Resolves when nothing is under way. */
  async ended(): Promise<void> {
    await this.filling?.catch(() => undefined);
    await Promise.all(this.underWay);
  }

  private async fillWhileAsked(): Promise<void> {
    while (this.again && !this.isEnding) {
      this.again = false;
      const free = this.settings.WEBHOOK_CONCURRENCY - this.underWay.size;
      if (free <= 0) return;
      const since = performance.now();
      const { share, busy } = this;
      const claimed = await claim(this.database, { free, share, lease: LEASE, busy, ...this.paces(since) });
      if (claimed.length > 0) this.begin(claimed, since);
    }
  }

  private get share(): number {
    return Math.max(1, Math.floor(this.settings.WEBHOOK_CONCURRENCY / 4));
  }

  /** The quick receivers, and the places that all others may still take. */
  private paces(now: number): { quick: Iterable<number>; ofOthers: number } {
    for (const [id, since] of this.quick) if (now - since > QUICK_FOR) this.quick.delete(id);
    let taken = 0;
    for (const [id, number] of this.busy) if (!this.quick.has(id)) taken += number;
    const half = Math.ceil(this.settings.WEBHOOK_CONCURRENCY / 2);
    return { quick: this.quick.keys(), ofOthers: Math.max(0, half - taken) };
  }

  private begin(claimed: Claimed[], since: number): void {
    const resources = this.resourcesOf(claimed);
    // Each delivery reports the failure of the common read.
    resources.catch(() => undefined);
    for (const one of claimed) this.follow(one, this.deliver(one, resources, since));
  }

  private follow({ webhook_id }: Claimed, work: Promise<void>): void {
    this.busy.set(webhook_id, (this.busy.get(webhook_id) ?? 0) + 1);
    const done = work
      .catch((error: unknown) => this.logger.warn({ err: error, webhook_id }, 'A delivery is left to its next turn'))
      .then(() => {
        this.underWay.delete(done);
        const others = this.busy.get(webhook_id)! - 1;
        if (others > 0) this.busy.set(webhook_id, others);
        else this.busy.delete(webhook_id);
        this.fill().catch((error: unknown) => this.logger.warn({ err: error }, 'Deliveries were not taken'));
      });
    this.underWay.add(done);
  }

  /** @param since when it was taken, or before: what isn't sent well before the end of the lease is left to others */
  private async deliver(one: Claimed, resources: Promise<Map<string, object>>, since: number): Promise<void> {
    const message = await this.messageOf(one, resources);
    if (performance.now() - since > LEASE - 2 * PATIENCE) return;
    const options = { rules: this.targets.rules, names: this.names, patience: PATIENCE };
    const begunAt = performance.now();
    const outcome = message ? await send(message, options) : { status: null, failure: Failure.INTERNAL };
    this.notePace(one, begunAt);
    attempted.add({ outcome: outcome.failure === null ? 'success' : 'failure' });
    await this.record(one, outcome);
  }

  private notePace({ webhook_id }: Claimed, begunAt: number): void {
    const now = performance.now();
    if (now - begunAt > QUICK) this.quick.delete(webhook_id);
    else this.quick.set(webhook_id, now);
  }

  /** Undefined if it can't be made: that is a failed attempt, so that it is given up some day. */
  private async messageOf(one: Claimed, resources: Promise<Map<string, object>>): Promise<Message | undefined> {
    try {
      const body = bodyOf(one, (await resources).get(keyOf(one)));
      const secrets = one.secrets.map((sealed) => this.seal.open(sealed)).filter((secret) => secret !== undefined);
      if (secrets.length === 0) throw new Error('No key of the service opens the secret: give the webhook a new one');
      const signed = signedHeaders(secrets, messageId(one.id), body);
      return { url: one.url, body, headers: { ...HEADERS, ...signed } };
    } catch (error) {
      this.logger.error({ err: error as Error, webhook_id: one.webhook_id }, 'A delivery could not be made');
      return undefined;
    }
  }

  private async record(one: Claimed, outcome: Outcome): Promise<void> {
    const disabled = await record(this.database, one, outcome, this.settings);
    if (disabled) this.logger.warn({ webhook_id: one.webhook_id, ...disabled }, 'A webhook was disabled');
  }

  /** Reads the resources of several deliveries together, by their types and ids. */
  private async resourcesOf(claimed: Claimed[]): Promise<Map<string, object>> {
    const found = new Map<string, object>();
    for (const type of new Set(claimed.map((one) => one.type))) {
      const ids = claimed.filter((one) => one.type === type).map(({ resource_id }) => resource_id);
      for (const [id, row] of await currentResources(this.database, type, ids)) {
        found.set(keyOf({ type, resource_id: id }), row);
      }
    }
    return found;
  }
}

const keyOf = ({ type, resource_id }: Pick<Claimed, 'type' | 'resource_id'>): string => `${type}/${resource_id}`;
