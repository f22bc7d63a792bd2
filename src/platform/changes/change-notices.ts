import { randomUUID } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';
import { DatabaseServer } from '../database/database-server';
import { reasonOf } from '../transactions/connection-error';
import { UnitOfWork } from '../transactions/unit-of-work';
import { seconds } from '../units';

const CHANNEL = 'resource_api_changes';
/** The least time between two notices of a process, in milliseconds. */
const PAUSE = 50;
const CONNECT_TIMEOUT = seconds(5);
/** Milliseconds until a lost connection is made again: at first, and at most. */
const FIRST_RETRY = 500;
const LAST_RETRY = seconds(30);

/**
 * Tells other processes that something may have changed, by NOTIFY, and hears them by LISTEN. A notice is only a hint to
 * look: nothing depends on its arrival. It is never part of a transaction that writes, because PostgreSQL lets only one
 * transaction at a time commit with a notice. Behind a pooler there are no notices, as a session there belongs to nobody.
 */
@Injectable()
export class ChangeNotices implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Changes');
  private readonly own = randomUUID();
  private readonly isPooled: boolean;
  private onNotice?: () => void;
  private client?: Client;
  private retry?: NodeJS.Timeout;
  private delay = FIRST_RETRY;
  private isSending = false;
  private isToSend = false;

  constructor(
    settings: Settings,
    private readonly server: DatabaseServer,
    @InjectDataSource() private readonly database: DataSource,
  ) {
    this.isPooled = settings.DATABASE_POOLER === 'transaction';
  }

  /** Called when this process has committed something. */
  tell(): void {
    this.onNotice?.();
    if (this.isPooled) return;
    this.isToSend = true;
    if (!this.isSending) UnitOfWork.outside(() => void this.sendAll());
  }

  /** Hears notices until {@link unlisten}. @param onNotice called for each, and when some may have been missed */
  listen(onNotice: () => void): void {
    this.onNotice = onNotice;
    if (!this.isPooled && !this.client) UnitOfWork.outside(() => void this.connect());
  }

  unlisten(): void {
    this.onNotice = undefined;
    clearTimeout(this.retry);
    const { client } = this;
    this.client = undefined;
    void client?.end().catch(nothing);
  }

  beforeApplicationShutdown(): void {
    this.unlisten();
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    while (this.isToSend) {
      this.isToSend = false;
      // Whoever isn't told looks by itself.
      await this.database.query('SELECT pg_notify($1, $2)', [CHANNEL, this.own]).catch(nothing);
      await new Promise((resolve) => setTimeout(resolve, PAUSE).unref());
    }
    this.isSending = false;
  }

  private async connect(): Promise<void> {
    const client = (this.client = new Client({
      connectionString: this.server.url,
      application_name: 'resource-api changes',
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      keepAlive: true,
    }));
    const lost = (error?: Error) => this.lost(client, error);
    client.on('error', lost).on('end', lost);
    client.on('notification', ({ payload }) => payload !== this.own && this.onNotice?.());
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      this.delay = FIRST_RETRY;
      this.onNotice?.();
    } catch (error) {
      lost(error as Error);
    }
  }

  private lost(client: Client, error?: Error): void {
    if (this.client !== client) return;
    this.client = undefined;
    void client.end().catch(nothing);
    if (!this.onNotice) return;
    this.logger.warn(`The connection that hears of changes is lost${error ? `: ${reasonOf(error)}` : ''}`);
    const delay = this.delay * (1 + Math.random());
    this.delay = Math.min(2 * this.delay, LAST_RETRY);
    this.retry = setTimeout(() => this.onNotice && !this.client && void this.connect(), delay).unref();
  }
}

const nothing = (): void => undefined;
