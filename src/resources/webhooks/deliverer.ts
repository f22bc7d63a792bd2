import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { RepeatedJob, seconds } from '../../platform';
import { Courier } from './courier';
import { Dispatcher } from './dispatcher';

/** The schedule of looks for changes, in milliseconds. */
export class DeliveryTimes {
  /** The delay after the start: random, so that instances don't look at once. */
  first = seconds(1) + Math.random() * seconds(1);
  interval = seconds(1);
  /** The interval while no webhook is active. A process learns at once of one that it makes itself. */
  idle = seconds(10);
}

const ANY_ACTIVE = "SELECT EXISTS (SELECT FROM webhooks WHERE status = 'ACTIVE') AS active";

/** Looks for changes and for deliveries that are due, in each process. Without an active webhook it sends one statement in ten seconds. */
@Injectable()
export class Deliverer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Deliverer.name);
  private readonly job = new RepeatedJob(() => this.look());
  /** When to look whether there is anything to do, by `performance.now()`. */
  private idleUntil = 0;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly dispatcher: Dispatcher,
    private readonly courier: Courier,
    private readonly times: DeliveryTimes,
  ) {}

  onApplicationBootstrap(): void {
    const { first, interval } = this.times;
    this.job.begin({ first, interval, logger: this.logger, failure: 'Webhooks were not looked after' });
  }

  /** Runs before the connections are closed. What is on its way has its time. */
  async beforeApplicationShutdown(): Promise<void> {
    this.courier.end();
    await this.job.end();
    await this.courier.ended();
  }

  /** Something may be due now. */
  wake(): void {
    this.idleUntil = 0;
  }

  private async look(): Promise<void> {
    if (performance.now() < this.idleUntil) return;
    const [{ active }] = await this.database.query<[{ active: boolean }]>(ANY_ACTIVE);
    if (!active) this.idleUntil = performance.now() + this.times.idle;
    else {
      await this.dispatcher.dispatch(() => this.job.isEnding);
      await this.courier.fill();
    }
  }
}
