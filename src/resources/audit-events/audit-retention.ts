import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { hours, inBackground, minutes, RepeatedJob, seconds } from '../../platform';
import { AuditSettings } from './audit-settings';

/** The interval between two sweeps in milliseconds. */
const INTERVAL = hours(1);
/** The delay after the start: random, so that instances don't sweep at once. */
const firstDelay = () => minutes(1) + Math.random() * minutes(1);
/** The time limit of each statement, in milliseconds. */
const STATEMENT = minutes(5);
/** Events that one transaction deletes. */
const BATCH = 5_000;

const DELETE = `DELETE FROM audit_events WHERE id IN (
  SELECT id FROM audit_events WHERE created_at < $1 LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

/** Deletes audit events that are older than AUDIT_RETENTION. Any number of instances may do so at once. */
@Injectable()
export class AuditRetention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(AuditRetention.name);
  private readonly job = new RepeatedJob(() => this.sweep());

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: AuditSettings,
  ) {}

  onApplicationBootstrap(): void {
    const failure = 'Old audit events were not removed';
    this.job.begin({ first: firstDelay(), interval: INTERVAL, logger: this.logger, failure });
  }

  /** Runs before the connections are closed. The sweep ends after its current batch. */
  beforeApplicationShutdown(): Promise<void> {
    return this.job.end();
  }

  /** Returns the number of removed events. */
  sweep(): Promise<number> {
    return inBackground(async () => {
      const before = new Date(Date.now() - seconds(this.settings.AUDIT_RETENTION));
      let removed = 0;
      for (let found = BATCH; found === BATCH && !this.job.isEnding; removed += found) {
        found = await this.database.transaction('READ COMMITTED', (manager) => removeBatch(manager, before));
      }
      return removed;
    }, STATEMENT);
  }
}

/** Tells the trigger that keeps audit events until when they may go. */
async function removeBatch(manager: EntityManager, before: Date): Promise<number> {
  await manager.query("SELECT set_config('audit.expired', $1, true)", [before.toISOString()]);
  const [, removed] = await manager.query<[unknown, number]>(DELETE, [before]);
  return removed;
}
