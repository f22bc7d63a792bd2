import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { countSettled, settledTable } from '../rows/settled-counts';
import { inBackground } from '../transactions/in-background';
import { RepeatedJob } from '../transactions/repeated-job';
import { seconds } from '../units';

const TABLE = 'audit_events';
/** The interval between two counts in milliseconds. What came since the last one is counted by each list that asks. */
const INTERVAL = seconds(30);
/** The delay after the start: random, so that instances don't count at once. */
const firstDelay = () => seconds(10) + Math.random() * seconds(20);
/** The time limit of each statement, in milliseconds. The end of the service waits for a statement that runs. */
const STATEMENT = seconds(5);

/** Counts the audit events of transactions that have ended, so that those who write events need not count them. */
@Injectable()
export class AuditCount implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(AuditCount.name);
  private readonly job = new RepeatedJob(() => this.count());

  constructor(@InjectDataSource() private readonly database: DataSource) {}

  onApplicationBootstrap(): void {
    const failure = 'Audit events were not counted';
    this.job.begin({ first: firstDelay(), interval: INTERVAL, logger: this.logger, failure });
  }

  /** Runs before the connections are closed. The count ends after its current step. */
  beforeApplicationShutdown(): Promise<void> {
    return this.job.end();
  }

  /** Counts the events that nothing can come before any more. */
  async count(): Promise<void> {
    // The migration may not have run yet.
    if (!settledTable(this.database, TABLE)) return;
    await inBackground(() => countSettled(this.database, TABLE, () => this.job.isEnding), STATEMENT);
  }
}
