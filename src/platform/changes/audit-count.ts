import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { countSettled } from '../rows/settled-counts';
import { inBackground } from '../transactions/in-background';
import { RepeatedJob } from '../transactions/repeated-job';
import { minutes, seconds } from '../units';
import { SettledChanges } from './settled-changes';

/** The interval between two counts in milliseconds. What came since the last one is counted by each list that asks. */
const INTERVAL = seconds(30);
/** The delay after the start: random, so that instances don't count at once. */
const firstDelay = () => seconds(10) + Math.random() * seconds(20);
/** The time limit of each statement, in milliseconds. */
const STATEMENT = minutes(5);

/** Counts the audit events of transactions that have ended, so that those who write events need not count them. */
@Injectable()
export class AuditCount implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(AuditCount.name);
  private readonly job = new RepeatedJob(() => this.count());
  /** The event up to which this process has seen all counted. */
  private counted = 0;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly changes: SettledChanges,
  ) {}

  onApplicationBootstrap(): void {
    const failure = 'Audit events were not counted';
    this.job.begin({ first: firstDelay(), interval: INTERVAL, logger: this.logger, failure });
  }

  /** Runs before the connections are closed. */
  beforeApplicationShutdown(): Promise<void> {
    return this.job.end();
  }

  /** Counts the events that are settled now. */
  async count(): Promise<void> {
    const settled = await this.changes.upTo();
    if (settled === this.counted) return;
    await inBackground(() => countSettled(this.database, 'audit_events', settled, () => this.job.isEnding), STATEMENT);
    this.counted = settled;
  }
}
