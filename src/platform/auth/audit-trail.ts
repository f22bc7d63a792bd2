import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { neighbourhoodOf } from '../limits/client-network';
import { Tally } from '../limits/tally';
import { UnitOfWork } from '../transactions/unit-of-work';
import { minutes, seconds } from '../units';

/** How long events wait for others, in milliseconds. A crash loses them; the log has them. */
const DELAY = seconds(1) / 2;
const WINDOW = minutes(1);
/** Events in a window, of all clients and of one neighbourhood, so that no client fills the disk by refused requests. */
const MAX_EVENTS = 600;
const MAX_OF_NEIGHBOURHOOD = 100;

/** An event that isn't the change of a row. */
export interface SecurityRow {
  user_id: number | null;
  request_id: string | null;
  address: string | null;
  action: string;
  details: object;
}

const INSERT = `
  INSERT INTO audit_events (created_at, user_id, request_id, address, action, details)
    SELECT * FROM jsonb_to_recordset($1) AS event (created_at timestamptz, user_id bigint, request_id text, address text,
                                                   action text, details jsonb)`;

/**
 * Writes security events beside the changes of rows, in the background and many by one statement: a refused request costs
 * no more by it. What exceeds the limits is only in the log.
 */
@Injectable()
export class AuditTrail implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Audit');
  private queue: (SecurityRow & { created_at: Date })[] = [];
  private counts = new Tally<string>();
  private windowEnd = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(@InjectDataSource() private readonly database: DataSource) {}

  add(event: SecurityRow): void {
    if (!this.admits(event)) return;
    this.queue.push({ ...event, created_at: new Date() });
    this.timer ??= setTimeout(() => this.flush(), DELAY).unref();
  }

  /** Runs before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.flush();
    await this.writing;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const events = this.queue.splice(0);
    if (events.length > 0) this.writing = this.writing.then(() => this.write(events));
  }

  private async write(events: object[]): Promise<void> {
    try {
      await UnitOfWork.outside(() => this.database.query(INSERT, [JSON.stringify(events)]));
    } catch (error) {
      this.logger.warn({ err: error as Error, events: events.length }, 'Security events are only in the log');
    }
  }

  private admits({ address }: SecurityRow): boolean {
    const now = performance.now();
    if (now >= this.windowEnd) {
      this.windowEnd = now + WINDOW;
      this.counts = new Tally();
    }
    return this.counted('', MAX_EVENTS) && this.counted(neighbourhoodOf(address ?? undefined), MAX_OF_NEIGHBOURHOOD);
  }

  /** The tally has no more keys than events that were admitted. */
  private counted(key: string, max: number): boolean {
    if (this.counts.of(key) >= max) return false;
    this.counts.add(key, 1);
    return true;
  }
}
